// SPDX-License-Identifier: Apache-2.0
#include "core/train/logging/tensorboard_reader.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/train/logging/tensorboard_writer.h"

#include <algorithm>
#include <cstring>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kHeadBytes = 12;      // length and its checksum
constexpr std::int64_t kRecordTailBytes = 4; // checksum of the payload
constexpr std::int64_t kChunkBytes = 4 << 20;
constexpr std::int64_t kMostRecordBytes = std::int64_t{1} << 30;
constexpr std::size_t kMostProblems = 20; // of one look: a file of rubbish is not a book

template <typename T>
T number_at(std::string_view text, std::size_t at) {
    T value;
    std::memcpy(&value, text.data() + at, sizeof value);
    return value;
}

/// A window over a file that moves forward.
class Window {
public:
    Window(const File& file, std::int64_t offset) : file_(file), size_(file.size()), at_(offset) {}

    /// `count` bytes from the current place; empty when the file ends before.
    std::string_view look(std::int64_t count) {
        if (count > size_ - at_) {
            return {};
        }
        if (at_ + count > base_ + static_cast<std::int64_t>(text_.size()) || at_ < base_) {
            base_ = at_;
            text_.resize(
                static_cast<std::size_t>(std::min(std::max(count, kChunkBytes), size_ - at_)));
            file_.read_at(std::as_writable_bytes(std::span(text_)), base_);
        }
        return std::string_view(text_).substr(static_cast<std::size_t>(at_ - base_),
                                              static_cast<std::size_t>(count));
    }
    void skip(std::int64_t count) { at_ += count; }
    std::int64_t at() const { return at_; }
    std::int64_t left() const { return size_ - at_; }

private:
    const File& file_;
    std::int64_t size_;
    std::int64_t at_;
    std::int64_t base_ = 0;
    std::string text_;
};

std::string place_in_file(const fs::path& path, std::int64_t offset) {
    return path.filename().string() + ", byte " + format_thousands(offset) + ": ";
}

void note(ScalarBatch& out, std::string problem) {
    if (out.problems.size() < kMostProblems) {
        out.problems.push_back(std::move(problem));
    }
}

bool all_zero(std::string_view text) {
    return text.find_first_not_of('\0') == std::string_view::npos;
}

} // namespace

void ScalarSeries::take_back(double from_step) {
    const auto keep = static_cast<std::size_t>(
        std::lower_bound(step.begin(), step.end(), from_step) - step.begin());
    taken_back += step.size() - keep;
    step.resize(keep);
    time.resize(keep);
    value.resize(keep);
}

void ScalarSeries::add(double at_step, double at_time, double number) {
    if (!step.empty() && at_step < step.back()) {
        take_back(at_step);
    }
    step.push_back(at_step);
    time.push_back(at_time);
    value.push_back(number);
}

void append(std::vector<ScalarSeries>& series, const ScalarBatch& batch) {
    for (const std::string& tag : batch.tags) {
        series.emplace_back().tag = tag;
    }
    for (const ScalarBatch::Point& point : batch.points) {
        const auto step = static_cast<double>(point.step);
        if (point.tag >= 0) {
            series[static_cast<std::size_t>(point.tag)].add(step, point.time, point.value);
            continue;
        }
        for (ScalarSeries& one : series) {
            one.take_back(step);
        }
    }
}

bool is_tensorboard_file(const fs::path& path) {
    return path.filename().string().find("tfevents") != std::string::npos;
}

std::vector<fs::path> tensorboard_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code problem;
    for (fs::directory_iterator entry(folder, problem);
         !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
        std::error_code ignored;
        if (is_tensorboard_file(entry->path()) && entry->is_regular_file(ignored)) {
            files.push_back(entry->path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

ScalarBatch TensorboardReader::read(std::size_t limit) {
    ScalarBatch out;
    for (const fs::path& path : tensorboard_files(folder_)) {
        read_file(path, sources_[path.filename().string()], limit, out);
        if (out.more) {
            break;
        }
    }
    return out;
}

void TensorboardReader::read_file(const fs::path& path, Source& source, std::size_t limit,
                                  ScalarBatch& out) {
    const File file(path, File::Mode::read, ErrorKind::data);
    if (file.size() < source.offset) {
        source = {}; // written anew under the same name
    }
    if (source.dead || file.size() == source.offset) {
        return;
    }
    Window window(file, source.offset);
    TensorboardEvent event;
    const auto take_value = [&](const TensorboardEvent& at, const TensorboardValue& value) {
        take(at, value, out);
    };
    for (std::string_view head; !(head = window.look(kHeadBytes)).empty();) {
        const auto length = number_at<std::uint64_t>(head, 0);
        if (number_at<std::uint32_t>(head, 8) != masked_crc32c(head.substr(0, 8)) ||
            length > static_cast<std::uint64_t>(kMostRecordBytes)) {
            const std::int64_t rest = std::min(window.left(), kChunkBytes);
            if (all_zero(window.look(rest))) {
                break; // room that a file system has set aside for what is being written
            }
            source.dead = true;
            note(out, place_in_file(path, window.at()) +
                          "the length of a record is damaged, so that nothing after it can be "
                          "found; what came before is shown");
            break;
        }
        const auto bytes = static_cast<std::int64_t>(length);
        const std::string_view record = window.look(kHeadBytes + bytes + kRecordTailBytes);
        if (record.empty()) {
            break; // still being written
        }
        const std::string_view payload = record.substr(kHeadBytes, static_cast<std::size_t>(bytes));
        const std::size_t points = out.points.size();
        if (number_at<std::uint32_t>(record, kHeadBytes + static_cast<std::size_t>(bytes)) !=
            masked_crc32c(payload)) {
            if (window.left() == kHeadBytes + bytes + kRecordTailBytes) {
                break; // the last one: its bytes may still be on their way
            }
            note(out, place_in_file(path, window.at()) +
                          "the checksum of a record is wrong; it is left out");
        } else if (!read_tensorboard_event(payload, take_value, event)) {
            out.points.resize(points);
            note(out, place_in_file(path, window.at()) +
                          "a record is no TensorBoard event; it is left out");
        } else if (event.session_start) {
            out.points.push_back({-1, event.step, event.time, 0});
        }
        window.skip(kHeadBytes + bytes + kRecordTailBytes);
        if (limit != 0 && out.points.size() >= limit) {
            out.more = true;
            break;
        }
    }
    source.offset = window.at();
}

// Only the first value of a tag says which plug-in it is for.
void TensorboardReader::take(const TensorboardEvent& event, const TensorboardValue& value,
                             ScalarBatch& out) {
    if (!value.hparams.empty()) {
        const config::Json found = read_hparams(value.hparams);
        if (!found.empty()) {
            out.hparams.update(found);
        }
        return;
    }
    auto found = tags_.find(value.tag);
    if (found == tags_.end()) {
        found = tags_.emplace(std::string(value.tag), Tag{}).first;
        found->second.plugin = value.plugin;
    }
    Tag& tag = found->second;
    if (!value.number || (!tag.plugin.empty() && tag.plugin != "scalars")) {
        return;
    }
    if (tag.number < 0) {
        tag.number = tag_count_++;
        out.tags.push_back(is_utf8(value.tag) ? std::string(value.tag) : shown(value.tag, 1000));
    }
    out.points.push_back({tag.number, event.step, event.time, *value.number});
}

} // namespace weft::train
