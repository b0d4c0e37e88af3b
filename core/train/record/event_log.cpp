// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/train/record/event_lines.h"
#include "core/train/record/run_folder.h"

#include <algorithm>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLogTailBytes = 1 << 20; // longer than any event line

fs::path events_path(const fs::path& folder) {
    return folder / "events.jsonl";
}

} // namespace

struct EventLog::State {
    State(const fs::path& folder, const Clock* time)
        : file(events_path(folder), File::Mode::append), clock(time != nullptr ? *time : system) {}

    void cut_torn_line();
    void flush();

    File file;
    SystemClock system;
    const Clock& clock;
    std::int64_t next_seq = 1;
    std::int64_t good_bytes = 0; // the file up to here is complete lines
    std::string pending;         // lines that did not reach the file
    std::string problem;
};

// Finds the last complete line, cuts what follows and goes on with the numbers after it.
void EventLog::State::cut_torn_line() {
    const File reader(file.path(), File::Mode::read);
    const std::int64_t size = reader.size();
    const std::int64_t from = std::max<std::int64_t>(0, size - kLogTailBytes);
    const std::string tail = read_range(reader, from, size);
    const std::size_t last_end = tail.rfind('\n');
    good_bytes =
        last_end == std::string::npos ? from : from + static_cast<std::int64_t>(last_end) + 1;
    if (good_bytes < size) {
        file.resize(good_bytes);
    }
    std::size_t end = last_end;
    while (end != std::string::npos && end > 0) {
        const std::size_t before = tail.rfind('\n', end - 1);
        const std::size_t begin = before == std::string::npos ? 0 : before + 1;
        if (const auto event = parse_event(std::string_view(tail).substr(begin, end - begin))) {
            next_seq = event->seq + 1;
            return;
        }
        end = before;
    }
}

void EventLog::State::flush() {
    try {
        file.write(pending);
        good_bytes += static_cast<std::int64_t>(pending.size());
        pending.clear();
        problem.clear();
    } catch (const Error& fault) {
        problem = fault.message();
        try {
            file.resize(good_bytes);
        } catch (const Error&) {
            // The torn line stays until the log is opened again, which cuts it.
        }
    }
}

EventLog::EventLog(const fs::path& folder, const Clock* clock)
    : state_(std::make_unique<State>(folder, clock)) {
    state_->cut_torn_line();
}

EventLog::~EventLog() = default;

Event EventLog::write(Payload payload) {
    Event event{state_->next_seq++, state_->clock.epoch_s(), std::move(payload)};
    state_->pending += to_line(event);
    state_->pending += '\n';
    state_->flush();
    return event;
}

const std::string& EventLog::problem() const {
    return state_->problem;
}

void EventLog::sync() {
    try {
        state_->file.sync();
    } catch (const Error& fault) {
        state_->problem = fault.message();
    }
}

EventReader::EventReader(const fs::path& folder) : path_(events_path(folder)) {}

void EventReader::skip_through(std::int64_t seq) {
    std::error_code problem;
    if (fs::exists(path_, problem)) {
        offset_ = offset_after(File(path_, File::Mode::read), seq);
    }
}

std::vector<Event> EventReader::read(std::size_t limit) {
    std::vector<Event> events;
    std::error_code problem;
    if (!fs::exists(path_, problem)) {
        return events;
    }
    const File file(path_, File::Mode::read);
    const std::int64_t size = file.size();
    constexpr std::int64_t kChunkBytes = 1 << 20; // about what a limited call gives back
    constexpr std::int64_t kShortLine = 64;
    events.reserve(std::min(limit, static_cast<std::size_t>((size - offset_) / kShortLine)));
    std::string text;
    for (std::int64_t at = offset_; at < size && (limit == 0 || events.size() < limit);) {
        const std::int64_t to = std::min(size, at + kChunkBytes);
        const std::size_t kept = text.size();
        text.resize(kept + static_cast<std::size_t>(to - at));
        file.read_at(std::as_writable_bytes(std::span(text).subspan(kept)), at);
        at = to;
        std::size_t begin = 0;
        for (std::size_t end = text.find('\n'); end != std::string::npos;
             end = text.find('\n', begin)) {
            if (limit != 0 && events.size() == limit) {
                break;
            }
            if (auto event = parse_event(std::string_view(text).substr(begin, end - begin))) {
                events.push_back(std::move(*event));
            } else {
                ++damaged_;
            }
            begin = end + 1;
        }
        offset_ += static_cast<std::int64_t>(begin);
        text.erase(0, begin);
    }
    return events;
}

} // namespace weft::train
