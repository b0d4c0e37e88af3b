// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/inside/inside_looks.h"

#include "core/base/error.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"

#include <utility>

namespace weft::ui {
namespace {

constexpr int kReadOnMs = 1000;

} // namespace

struct InsideLooks::Read {
    std::shared_ptr<const train::InsideHistory> history; // null: nothing new
    QString problem;
};

InsideLooks::InsideLooks(RunModel& run, QObject* parent)
    : QObject(parent), run_(run), history_(std::make_shared<train::InsideHistory>()) {
    timer_.setInterval(kReadOnMs);
    connect(&timer_, &QTimer::timeout, this, &InsideLooks::readOn);
    connect(&run_, &RunModel::reset, this, &InsideLooks::reset);
    // The last look of a run that ended.
    connect(&run_, &RunModel::stateChanged, this, [this] {
        if (follows_) {
            readOn();
        }
    });
    reset();
}

void InsideLooks::setFollowing(bool follows) {
    follows_ = follows;
    if (follows) {
        readOn();
        timer_.start();
    } else {
        timer_.stop();
    }
}

void InsideLooks::reset() {
    reader_.reset();
    if (!run_.isEmpty() && !run_.isForeign()) {
        reader_ = std::make_shared<train::InsideReader>(run_.folder());
    }
    history_ = std::make_shared<train::InsideHistory>();
    problem_.clear();
    known_ = reader_ == nullptr;
    reading_ = false;
    emit changed();
    if (follows_) {
        readOn();
    }
}

void InsideLooks::readOn() {
    if (reading_ || reader_ == nullptr || !problem_.isEmpty()) {
        return;
    }
    reading_ = true;
    runInBackground(
        this,
        [reader = reader_] {
            Read out;
            try {
                if (reader->read_on()) {
                    out.history = std::make_shared<const train::InsideHistory>(reader->history());
                }
            } catch (const Error& fault) {
                out.problem = toQString(fault.message());
            }
            return out;
        },
        [this, reader = reader_](Read read) {
            if (reader != reader_) {
                return; // another run is on screen
            }
            reading_ = false;
            const bool first = !std::exchange(known_, true);
            problem_ = read.problem;
            const bool news = read.history != nullptr;
            if (news) {
                history_ = std::move(read.history);
            }
            if (first || news || !problem_.isEmpty()) {
                emit changed();
            }
        });
}

std::int64_t InsideLooks::every() const {
    if (run_.isEmpty() || run_.isForeign()) {
        return 0;
    }
    std::int64_t every = run_.config().section("log").value("inside_every", std::int64_t{0});
    for (const train::SettingsEvent& change : run_.settings()) {
        if (change.path == "log.inside_every" && change.value.is_number_integer()) {
            every = change.value.get<std::int64_t>();
        }
    }
    return every;
}

} // namespace weft::ui
