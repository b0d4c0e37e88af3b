// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/folders.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

namespace weft::test {

namespace fs = std::filesystem;

std::map<std::string, int> units_of(const std::vector<std::string>& sources) {
    std::map<std::string, std::set<std::string>> stems;
    for (const std::string& source : sources) {
        const fs::path path = source;
        stems[path.parent_path().generic_string()].insert(path.stem().string());
    }
    std::map<std::string, int> out;
    for (const auto& [folder, units] : stems) {
        out[folder] = static_cast<int>(units.size());
    }
    return out;
}

std::vector<std::string> crowded(const std::map<std::string, int>& units) {
    std::vector<std::string> out;
    const auto allowed = [](const std::string& folder) {
        return std::any_of(std::begin(kLongLists), std::end(kLongLists),
                           [&](const LongList& one) { return one.folder == folder; });
    };
    for (const auto& [folder, count] : units) {
        if (count > kMostUnits && !allowed(folder)) {
            out.push_back(folder + " holds " + std::to_string(count) + " units; at most " +
                          std::to_string(kMostUnits) + " are read at a glance: make rooms");
        }
    }
    for (const LongList& one : kLongLists) {
        const auto found = units.find(std::string(one.folder));
        if (found != units.end() && found->second <= kMostUnits) {
            out.push_back(found->first + " is no longer crowded: take it from kLongLists");
        }
    }
    return out;
}

std::vector<std::string> paths_named_in(std::string_view text) {
    static const std::regex kQuoted("`([^`\\n]+)`");
    static const std::regex kPath(
        R"((core|kernels|widgets|ui|app|tests|packaging)/[a-z0-9_./-]*|[a-z0-9_/]+(/|\.h|\.cpp))");
    const std::string all(text);
    std::vector<std::string> out;
    for (auto quoted = std::sregex_iterator(all.begin(), all.end(), kQuoted);
         quoted != std::sregex_iterator(); ++quoted) {
        std::string word = (*quoted)[1].str();
        word = word.substr(0, word.find(' ')); // a command with its arguments
        if (std::regex_match(word, kPath)) {
            out.push_back(word);
        }
    }
    return out;
}

} // namespace weft::test
