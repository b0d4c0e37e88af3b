// SPDX-License-Identifier: Apache-2.0
#include "core/train/logging/tensorboard_reader.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/train/logging/tensorboard_records.h"

#include <algorithm>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostProblems = 20; // of one look: a file of rubbish is not a book

std::string place_in_file(const fs::path& path, std::int64_t offset) {
    return path.filename().string() + ", byte " + format_thousands(offset) + ": ";
}

void note(ScalarBatch& out, std::string problem) {
    if (out.problems.size() < kMostProblems) {
        out.problems.push_back(std::move(problem));
    }
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
    TensorboardRecords records(file, source.offset);
    TensorboardEvent event;
    const auto take_value = [&](const TensorboardEvent& at, const TensorboardValue& value) {
        take(at, value, out);
    };
    using Found = TensorboardRecords::Found;
    for (Found found; !out.more && (found = records.next()) != Found::end;) {
        const auto place = [&] { return place_in_file(path, records.offset()); };
        const std::size_t points = out.points.size();
        if (found == Found::lost) {
            source.dead = true;
            note(out, place() +
                          "the length of a record is damaged, so that nothing after it can be "
                          "found; what came before is shown");
            break;
        }
        if (found == Found::damaged) {
            note(out, place() + "the checksum of a record is wrong; it is left out");
        } else if (!read_tensorboard_event(records.payload(), take_value, event)) {
            out.points.resize(points);
            note(out, place() + "a record is no TensorBoard event; it is left out");
        } else if (event.session_start) {
            out.points.push_back({-1, event.step, event.time, 0});
        }
        out.more = limit != 0 && out.points.size() >= limit;
    }
    source.offset = records.at();
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
