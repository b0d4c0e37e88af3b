// SPDX-License-Identifier: Apache-2.0
// Boards as text, a character for each cell, row by row, and how far from right they are. Pure
// functions.
#pragma once

#include "core/data/dataset.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::train {

/// What stands for a cell that is not judged: its label is below 0.
inline constexpr char kUnjudged = '?';

/// Cells that are judged and not what they should be; both [cells].
std::int64_t wrong_cells(std::span<const std::int32_t> said, std::span<const std::int32_t> answer);

/// "1.34...": one character of form.symbols for each class.
std::string board_text(const data::BoardForm& form, std::span<const std::int32_t> cells);

/// The same in lines, with lines between boxes: for people.
std::vector<std::string> board_lines(const data::BoardForm& form,
                                     std::span<const std::int32_t> cells);

/// The cells of a text, in which white space and lines between boxes (|, -, +) say nothing unless
/// they are symbols, and 0 is a blank where it is no symbol. Throws weft::Error{usage} with the
/// place.
std::vector<std::int32_t> parse_board(const data::BoardForm& form, std::string_view text);

/// A board of one's own as a sample: of no kind, where kinds are told apart.
std::vector<std::int32_t> sample_of(const data::SampleInfo& info,
                                    std::span<const std::int32_t> cells);

} // namespace weft::train
