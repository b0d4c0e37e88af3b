// SPDX-License-Identifier: Apache-2.0
// events.jsonl as lines of text with numbers: for those who pass events on without reading them.
#pragma once

#include "core/base/file.h"

#include <string_view>
#include <utility>
#include <vector>

namespace weft::train {

/// The number of an event line; 0 when it has none (a damaged line).
std::int64_t seq_of(std::string_view line);

/// Where the first line with a number above `seq` begins; the end of the last complete line when
/// there is none. Numbers grow, so this looks at some twenty places of a long file.
std::int64_t offset_after(const File& log, std::int64_t seq);

/// Reads the complete lines of a log, a bounded piece at a time, from any number on.
class EventLines {
public:
    EventLines(const std::filesystem::path& run_folder, std::int64_t after_seq);

    struct Line {
        std::int64_t seq = 0;
        std::string text; // with its newline
    };
    /// The next lines above `after_seq`, about `bytes` of text; none when there are no more yet.
    /// Damaged lines are left out.
    std::vector<Line> read(std::size_t bytes);

private:
    std::filesystem::path path_;
    std::int64_t after_seq_;
    std::int64_t offset_ = -1; // not looked for yet
};

} // namespace weft::train
