// SPDX-License-Identifier: Apache-2.0
#include "core/data/text/json_lines.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <algorithm>
#include <span>

namespace weft::data {
namespace {

constexpr std::int64_t kLongestLine = 64 << 20;

} // namespace

void for_each_line(const std::filesystem::path& path, const LineRange& range,
                   const std::function<bool(const Line&)>& use) {
    const File file(path, File::Mode::read, ErrorKind::data);
    const std::int64_t end = std::min(file.size(), range.end);
    std::string line;
    std::string piece;
    std::int64_t number = range.number;
    std::int64_t begin = range.offset;
    const auto finish = [&](std::int64_t next) {
        const bool goes_on = trim(line).empty() || use(Line{line, number, begin});
        line.clear();
        begin = next;
        ++number;
        return goes_on;
    };
    for (std::int64_t at = range.offset; at < end; at += static_cast<std::int64_t>(piece.size())) {
        piece.resize(static_cast<std::size_t>(std::min(kJsonPieceBytes, end - at)));
        file.read_at(std::as_writable_bytes(std::span(piece)), at);
        std::size_t from = 0;
        for (std::size_t to = piece.find('\n'); to != std::string::npos;
             to = piece.find('\n', from)) {
            line.append(piece, from, to - from);
            from = to + 1;
            if (!finish(at + static_cast<std::int64_t>(from))) {
                return;
            }
        }
        line.append(piece, from);
        if (static_cast<std::int64_t>(line.size()) > kLongestLine) {
            throw Error(ErrorKind::data, path.string() + ", line " + format_thousands(number),
                        "the line is longer than " + format_bytes(kLongestLine),
                        "Write one JSON object per line.");
        }
    }
    if (end == file.size()) {
        finish(end);
    }
}

std::optional<config::Json> object_of(const std::string& line) {
    config::Json value = config::json_or_discarded(line);
    return value.is_object() ? std::optional(std::move(value)) : std::nullopt;
}

} // namespace weft::data
