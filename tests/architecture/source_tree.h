// SPDX-License-Identifier: Apache-2.0
// The product's sources as plain values, read once per test.
#pragma once

#include <string>
#include <vector>

namespace weft::test {

struct Include {
    int line;
    std::string path;
    bool quoted; // "..." rather than <...>
};

struct SourceFile {
    std::string path; // from the repository's root
    int lines = 0;
    std::string licence; // of the SPDX line; empty when the file does not start with one
    std::vector<Include> includes;
    std::vector<std::string> private_names;
    std::vector<std::string> declared_names; // of a header
};

/// The #include lines of a text, comments left out.
std::vector<Include> includes_of(const std::string& text);

/// What a text defines in its unnamed namespaces, at the beginning of a line: types, constants,
/// functions. Aliases may be written again in each file, so they are left out.
std::vector<std::string> private_names_of(const std::string& text);

/// The functions that a header declares outside of classes, at the beginning of a line.
std::vector<std::string> declared_names_of(const std::string& text);

/// Every .h, .cpp, .c and .in file under the given top folders, sorted by path.
std::vector<SourceFile> read_sources(const std::vector<std::string>& folders);

/// Why this include is forbidden in a file; empty when it is allowed.
std::string forbidden_reason(const std::string& file, const Include& include);

} // namespace weft::test
