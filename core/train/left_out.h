// SPDX-License-Identifier: Apache-2.0
// Damaged samples that a run goes on without: each is told once, and counts as damaged until it is
// mended.
#pragma once

#include "core/data/loader.h"

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace weft::train {

/// By part of the data ("train", "validation"): the numbers of the samples.
using LeftOutSamples = std::map<std::string, std::set<std::int64_t>>;

/// Adds samples of a part, and says which of them are new; empty: none.
std::string note_left_out(LeftOutSamples& known, const std::string& part,
                          const std::vector<data::LeftOut>& found);

/// Reads them again, so that `source` knows what is damaged, and forgets those that are not.
void drop_mended(std::set<std::int64_t>& known, const data::Source& source);

} // namespace weft::train
