// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run_reader.h"

#include "core/base/error.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"

namespace weft::ui {
namespace {

constexpr int kPollMs = 250;

} // namespace

struct RunReader::Source {
    explicit Source(const std::filesystem::path& folder) : reader(folder) {}
    train::EventReader reader;
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
    runInBackground(
        this, [folder = folder_] { return train::read_frozen_config(folder); },
        [this, source = source_](const compile::CheckedRun& checked) {
            if (source != source_) {
                return; // another folder was opened meanwhile
            }
            if (checked.ok()) {
                model_.begin(folder_, checked.config);
                if (source == source_) {
                    readBatch();
                }
                return;
            }
            model_.fail(checked.diagnostics.empty()
                            ? tr("config.json cannot be read")
                            : toQString(to_text(checked.diagnostics.front())));
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
                return {source->reader.read(kBatch), live};
            } catch (const Error&) {
                return {{}, false}; // gone meanwhile: what was read stays
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
    if (!batch.events.empty()) {
        const auto source = source_;
        last_seq_ = batch.events.back().seq;
        model_.apply(batch.events);
        if (source != source_) {
            return; // who heard of the events opened another folder
        }
    }
    if (batch.events.size() == kBatch) {
        readBatch();
        return;
    }
    if (follow_ && batch.live) {
        poll_.start();
    } else if (follow_) {
        model_.interrupt();
    }
    if (std::exchange(reading_, false)) {
        emit caughtUp();
    }
}

} // namespace weft::ui
