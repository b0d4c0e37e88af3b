// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/profile/recordings.h"

#include "core/base/file.h"
#include "core/profile/trace.h"
#include "ui/bridge/convert.h"

#include <QFileInfo>

#include <algorithm>
#include <charconv>

namespace weft::ui {
namespace {

struct ReadRecording {
    std::shared_ptr<const OpenRecording> open; // null: `problem` says why
    QString problem;
};

ReadRecording readRecording(const std::filesystem::path& file) {
    try {
        return {std::make_shared<const OpenRecording>(openRecording(file)), {}};
    } catch (const std::exception& fault) {
        return {nullptr, faultText(fault)};
    }
}

/// Of "step-00000100".
std::int64_t firstStep(const std::filesystem::path& file) {
    const std::string name = file.stem().string();
    const std::size_t at = name.find_last_of('-') + 1;
    std::int64_t step = 0;
    std::from_chars(name.data() + at, name.data() + name.size(), step);
    return step;
}

std::vector<ListedRecording> listRecordings(const std::filesystem::path& run) {
    std::vector<ListedRecording> out;
    for (const std::filesystem::path& file : profile::list_recordings(run)) {
        const QDateTime written = QFileInfo(pathText(file)).lastModified();
        out.push_back(
            {file, firstStep(file), static_cast<double>(written.toMSecsSinceEpoch()) / 1e3});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.written > b.written; });
    return out;
}

} // namespace

void Recordings::setRun(const std::filesystem::path& folder) {
    if (folder == run_) {
        return;
    }
    run_ = folder;
    listed_.clear();
    listed_once_ = false;
    emit listChanged();
    compareWith({});
    show({});
    refresh();
}

void Recordings::refresh(const std::filesystem::path& show) {
    if (run_.empty()) {
        listing_.drop();
        listed_once_ = true;
        emit listChanged();
        return;
    }
    listing_.start([run = run_] { return listRecordings(run); },
                   [this, show](std::vector<ListedRecording> found) {
                       listed_ = std::move(found);
                       listed_once_ = true;
                       emit listChanged();
                       if (!show.empty()) {
                           now_.file.clear(); // it may be another one under the same name
                           this->show(show);
                       } else if (now_.file.empty() && !listed_.empty()) {
                           this->show(listed_.front().file);
                       }
                   });
}

void Recordings::choose(Chosen& which, const std::filesystem::path& file) {
    if (file == which.file && which.problem.isEmpty()) {
        return;
    }
    which.file = file;
    which.open.reset();
    which.problem.clear();
    which.reading.drop();
    if (!file.empty()) {
        which.reading.start([file] { return readRecording(file); },
                            [this, &which](ReadRecording read) {
                                which.open = std::move(read.open);
                                which.problem = read.problem;
                                emit changed();
                            });
    }
    emit changed();
}

void Recordings::show(const std::filesystem::path& file) {
    choose(now_, file);
}

void Recordings::compareWith(const std::filesystem::path& file) {
    choose(before_, file);
}

void Recordings::exportTrace(const std::filesystem::path& to,
                             const std::function<void(bool, const QString&)>& done) {
    if (!now_.open) {
        return;
    }
    exporting_.join(
        [open = now_.open, to] {
            try {
                write_file_atomically(to, profile::to_trace(open->recording));
                return QString();
            } catch (const std::exception& fault) {
                return faultText(fault);
            }
        },
        [to, done](const QString& problem) {
            done(problem.isEmpty(),
                 problem.isEmpty()
                     ? tr("Written to %1. Open it at ui.perfetto.dev or in chrome://tracing.")
                           .arg(pathText(to))
                     : problem);
        });
}

} // namespace weft::ui
