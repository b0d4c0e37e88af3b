// SPDX-License-Identifier: Apache-2.0
// How many units a folder may hold. A unit is what one reads together: a header with its source.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::test {

/// More do not fit into a reader's head, nor onto a page of a file list.
inline constexpr int kMostUnits = 25;

/// Folders that may hold more, each with its reason; its README says so, too.
struct LongList {
    std::string_view folder;
    std::string_view reason;
};
inline constexpr LongList kLongLists[] = {
    {"core/ops", "one kind of thing: every op of programs in a file of its own, and their record"},
    {"kernels/cuda", "one kind of thing: a file for each family of kernels, and what they share"},
};

/// Units by folder, of sources given by their paths.
std::map<std::string, int> units_of(const std::vector<std::string>& sources);
/// What is wrong with them, a line each: a folder that holds too many, and a folder in the table
/// that no longer needs to be there.
std::vector<std::string> crowded(const std::map<std::string, int>& units);

/// What a README names between back quotes that looks like a file or folder: "core/ops/",
/// "page_list.h", "ui/bridge/run/run_model". Patterns and places outside the tree are left out.
std::vector<std::string> paths_named_in(std::string_view text);

} // namespace weft::test
