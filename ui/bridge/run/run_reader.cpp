// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/run_reader.h"

#include "core/base/error.h"
#include "core/hosts/mirror.h"
#include "core/train/record/run_summary.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"

namespace weft::ui {
namespace {

constexpr int kPollMs = 250;
constexpr int kForeignPollMs = 1000; // other programs keep no lock: their files are looked at

} // namespace

struct RunReader::Source {
    explicit Source(const std::filesystem::path& folder) : reader(folder), event_files(folder) {}
    train::EventReader reader;
    train::TensorboardReader event_files;
    bool foreign = false; // written by another program
    std::size_t limit = kFirstBatch;
    std::optional<std::string> host; // of a copy of another's run; none: not looked for yet
};

RunReader::RunReader(RunModel& model, QObject* parent) : QObject(parent), model_(model) {
    poll_.setInterval(kPollMs);
    poll_.setSingleShot(true);
    connect(&poll_, &QTimer::timeout, this, &RunReader::readBatch);
}

void RunReader::open(const std::filesystem::path& folder) {
    start(folder, true);
    readConfig();
}

void RunReader::replay(const std::filesystem::path& folder, const compile::RunConfig& config) {
    start(folder, false);
    model_.begin(folder, config);
    readBatch();
}

void RunReader::refresh() {
    if (source_ && !reading_ && !busy_) {
        poll_.stop();
        readBatch();
    }
}

void RunReader::start(const std::filesystem::path& folder, bool follow) {
    folder_ = folder;
    follow_ = follow;
    source_ = std::make_shared<Source>(folder);
    last_seq_ = 0;
    poll_.stop();
    reading_ = true;
    busy_ = false;
}

void RunReader::stop() {
    folder_.clear();
    source_.reset();
    poll_.stop();
    reading_ = false;
}

void RunReader::readConfig() {
    struct Found {
        bool foreign = false;
        compile::CheckedRun checked;
    };
    runInBackground(
        this,
        [folder = folder_]() -> Found {
            const bool foreign =
                !train::is_weft_run(folder) &&
                (train::is_run_folder(folder) || !train::tensorboard_files(folder).empty());
            return {foreign, foreign ? compile::CheckedRun() : train::read_frozen_config(folder)};
        },
        [this, source = source_](const Found& found) {
            if (source != source_) {
                return; // another folder was opened meanwhile
            }
            source->foreign = found.foreign;
            if (found.foreign || found.checked.ok()) {
                found.foreign ? model_.beginForeign(folder_)
                              : model_.begin(folder_, found.checked.config);
                if (source == source_) {
                    readBatch();
                }
                return;
            }
            const config::Diagnostics& problems = found.checked.diagnostics;
            model_.fail(problems.empty() ? tr("config.json cannot be read")
                                         : toQString(to_text(problems.front())));
            reading_ = false;
            emit caughtUp();
        });
}

void RunReader::readBatch() {
    busy_ = true;
    runInBackground(
        this,
        [source = source_, folder = folder_]() -> Batch {
            // Before the events: those that a process wrote before it ended are then in this batch.
            const bool live = train::is_live(folder);
            try {
                const std::size_t limit = std::exchange(source->limit, kBatch);
                Batch batch{source->reader.read(limit), {}, false, live};
                if (!source->host) {
                    const auto mirror = hosts::read_mirror(folder);
                    source->host = mirror ? mirror->host : std::string();
                }
                if (source->foreign && !train::is_run_folder(folder)) {
                    batch.scalars = source->event_files.read(kScalars);
                }
                batch.more = batch.events.size() == limit || batch.scalars.more;
                return batch;
            } catch (const Error&) {
                return {}; // gone meanwhile: what was read stays
            }
        },
        [this, source = source_](const Batch& batch) {
            if (source == source_) {
                busy_ = false;
                take(batch);
            }
        });
}

void RunReader::take(const Batch& batch) {
    const auto source = source_;
    if (batch.more) {
        readBatch();
    }
    model_.setHost(toQString(source->host.value_or("")));
    if (!batch.events.empty()) {
        last_seq_ = batch.events.back().seq;
        model_.apply(batch.events);
    }
    if (source == source_) {
        model_.applyScalars(batch.scalars);
    }
    if (source != source_ || batch.more) {
        return; // who heard of it opened another folder, or the next batch is on its way
    }
    if (follow_ && (batch.live || source_->foreign)) {
        poll_.start(source_->foreign ? kForeignPollMs : kPollMs);
    } else if (follow_) {
        model_.interrupt();
    }
    if (std::exchange(reading_, false)) {
        emit caughtUp();
    }
}

} // namespace weft::ui
