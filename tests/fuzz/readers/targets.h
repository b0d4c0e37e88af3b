// SPDX-License-Identifier: Apache-2.0
// What reads files of users.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::fuzz {

struct Target {
    std::string name;
    std::string file; // what the input's file is called, for readers that go by its ending
    /// Inputs to begin with.
    std::function<std::vector<std::string>()> seeds;
    /// Reads the input, which also lies in `path`. May throw weft::Error and nothing else.
    std::function<void(std::string_view input, const std::filesystem::path& path)> run;
};

const std::vector<Target>& all_targets();
/// Those that a "data" section names.
std::vector<Target> data_targets();

/// The contents of a file of this source tree.
std::string source_file(const std::string& path);
/// The same of all files of a folder.
std::vector<std::string> source_files(const std::string& folder);

} // namespace weft::fuzz
