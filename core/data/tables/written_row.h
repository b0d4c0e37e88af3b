// SPDX-License-Identifier: Apache-2.0
// A row of a table that somebody writes, to be predicted by a model that was trained on the table:
// its columns as the files have them, and the way from their cells to a sample and back.
#pragma once

#include "core/data/dataset.h"

#include <span>
#include <string>
#include <vector>

namespace weft::data {

/// A column that goes into samples.
struct InputColumn {
    std::string name;
    std::vector<std::string> categories; // in UTF-8, sorted; empty: it holds numbers or dates
    bool may_be_missing = true;
    std::string instead; // what stands for a missing number or date, in short
};

/// Of a table's encoding (Source::encoding), in the order of the file; empty for any other.
std::vector<InputColumn> input_columns(const Encoding* encoding);

/// The sample f32[F] before transforms of a row with a cell for every input column, the same
/// numbers as of that row in a file. Cells are in UTF-8; an empty one is missing. Throws
/// weft::Error{usage} named by column.
std::vector<float> sample_of_row(const Encoding& encoding, std::span<const std::string> cells);

/// The cells of sample f32[F] before transforms: numbers to six digits, dates as ISO 8601 writes
/// them, a missing one as what stands for it.
std::vector<std::string> row_of_sample(const Encoding& encoding, std::span<const float> sample);

} // namespace weft::data
