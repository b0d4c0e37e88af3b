// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/event_lines.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace weft::train {
namespace {

constexpr std::int64_t kBlockBytes = 1 << 16;

struct Place {
    std::int64_t begin = 0;
    std::int64_t end = 0; // after its newline
    std::int64_t seq = 0;
};

// The first complete line with a number that begins at `from` or after it; `from` may lie inside
// of a line.
std::optional<Place> first_line(const File& log, std::int64_t from, std::int64_t size) {
    std::string text;
    std::int64_t text_begin = from;
    bool at_line = from == 0;
    for (std::int64_t at = from; at < size;) {
        const std::int64_t to = std::min(size, at + kBlockBytes);
        text += read_range(log, at, to);
        at = to;
        std::size_t begin = 0;
        for (std::size_t end = text.find('\n'); end != std::string::npos;
             end = text.find('\n', begin)) {
            const auto seq = seq_of(std::string_view(text).substr(begin, end - begin));
            if (at_line && seq > 0) {
                return Place{text_begin + static_cast<std::int64_t>(begin),
                             text_begin + static_cast<std::int64_t>(end) + 1, seq};
            }
            at_line = true;
            begin = end + 1;
        }
        text.erase(0, begin);
        text_begin += static_cast<std::int64_t>(begin);
    }
    return std::nullopt;
}

} // namespace

std::int64_t seq_of(std::string_view line) {
    // Keys have one order, so it comes before anything that a run says in its own words.
    constexpr std::string_view kKey = R"("seq":)";
    const std::size_t at = line.find(kKey);
    std::int64_t seq = 0;
    if (line.ends_with('}') && at != std::string_view::npos) {
        std::from_chars(line.data() + at + kKey.size(), line.data() + line.size(), seq);
    }
    return seq;
}

std::int64_t offset_after(const File& log, std::int64_t seq) {
    const std::int64_t size = log.size();
    // Every line that begins before `low` has a number up to seq; the first line at or after `high`
    // has a larger one, or there is none.
    std::int64_t low = 0;
    std::int64_t high = size;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        const auto line = first_line(log, middle == 0 ? 0 : middle - 1, size);
        if (line && line->seq <= seq) {
            low = line->end;
        } else {
            high = middle;
        }
    }
    const auto line = first_line(log, low == 0 ? 0 : low - 1, size);
    return line ? line->begin : low;
}

EventLines::EventLines(const std::filesystem::path& run_folder, std::int64_t after_seq)
    : path_(run_folder / "events.jsonl"), after_seq_(after_seq) {}

std::vector<EventLines::Line> EventLines::read(std::size_t bytes) {
    std::vector<Line> lines;
    std::error_code problem;
    if (!std::filesystem::exists(path_, problem)) {
        return lines;
    }
    const File file(path_, File::Mode::read);
    if (offset_ < 0) {
        offset_ = offset_after(file, after_seq_);
    }
    const std::int64_t size = file.size();
    std::string text;
    std::size_t taken = 0;
    for (std::int64_t at = offset_; at < size && taken < bytes;) {
        const std::int64_t to = std::min(size, at + static_cast<std::int64_t>(bytes));
        text += read_range(file, at, to);
        at = to;
        std::size_t begin = 0;
        for (std::size_t end = text.find('\n'); end != std::string::npos;
             end = text.find('\n', begin)) {
            const std::int64_t seq = seq_of(std::string_view(text).substr(begin, end - begin));
            if (seq > after_seq_) {
                lines.push_back({seq, text.substr(begin, end + 1 - begin)});
                after_seq_ = seq;
                taken += end + 1 - begin;
            }
            begin = end + 1;
        }
        offset_ += static_cast<std::int64_t>(begin);
        text.erase(0, begin);
    }
    return lines;
}

} // namespace weft::train
