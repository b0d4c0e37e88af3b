// SPDX-License-Identifier: Apache-2.0
// A file with one JSON object per line, read piece by piece.
#pragma once

#include "core/config/field.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace weft::data {

inline constexpr std::int64_t kJsonPieceBytes = 1 << 20; // read at once

struct Line {
    const std::string& text;
    std::int64_t number; // from 1 on
    std::int64_t offset; // in the file
};

/// Where to begin and to end.
struct LineRange {
    std::int64_t offset = 0, number = 1; // of the first line
    std::int64_t end = std::numeric_limits<std::int64_t>::max();
};

/// Calls use(line) for every line that is not blank until it returns false. Throws
/// weft::Error{data} for a line that is longer than 64 MiB.
void for_each_line(const std::filesystem::path& path, const LineRange& range,
                   const std::function<bool(const Line&)>& use);

/// The object of a line; nothing when it is none, or nested too deep.
std::optional<config::Json> object_of(const std::string& line);

} // namespace weft::data
