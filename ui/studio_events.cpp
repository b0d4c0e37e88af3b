// SPDX-License-Identifier: GPL-3.0-or-later
// What the run on screen and its process say, and what the studio makes of it.
#include "core/base/error.h"
#include "core/train/ways_on.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/plan/planner.h"
#include "ui/studio.h"

#include <algorithm>
#include <csignal>
#include <set>

namespace weft::ui {

void Studio::onEvents(const std::vector<train::Event>& events) {
    for (const train::Event& event : events) {
        if (const auto* answer = std::get_if<train::CommandEvent>(&event.payload)) {
            onAnswer(*answer);
        } else {
            log_.event(event);
        }
    }
    run_.apply(events);
    if (!planned_ && !run_.steps().step.empty()) {
        planRun();
    }
}

void Studio::onAnswer(const train::CommandEvent& answer) {
    log_.answer(answer);
    control_.takeAnswer(answer);
}

// A run that is trained goes on from here over the line to its process.
void Studio::onCaughtUp() {
    if (!run_.problem().isEmpty()) {
        emit troubled(run_.problem());
        return;
    }
    const std::int64_t last_seq = reader_.lastSeq();
    if (!link_.isActive() && train::is_live(run_.folder())) {
        reader_.stop();
        link_.attach(run_.folder());
        emit trainingChanged();
    }
    link_.stream(last_seq);
}

// A save may have removed others by the rules of the run.
void Studio::lookForKept() {
    runInBackground(
        this,
        [folder = run_.folder()] {
            std::set<std::int64_t> steps;
            try {
                for (const auto& entry : checkpoint::find_checkpoints(folder / "checkpoints")) {
                    steps.insert(entry.step);
                }
            } catch (const Error&) {
                // None can be read, so none is there.
            }
            return steps;
        },
        [this, folder = run_.folder()](std::set<std::int64_t> steps) {
            if (folder == run_.folder()) {
                run_.setKept(std::move(steps));
            }
        });
}

// Its worker compiles the same: a plan is made here again, when training has begun.
void Studio::planRun() {
    planned_ = true;
    runInBackground(
        this,
        [config = run_.config(),
         plan = planner().plan]() -> std::shared_ptr<const plan::ExecutionPlan> {
            try {
                return plan(config, nullptr, {});
            } catch (const Error&) {
                return nullptr; // the run has one; it is only not shown
            }
        },
        [this, folder = run_.folder()](std::shared_ptr<const plan::ExecutionPlan> made) {
            if (made && folder == run_.folder()) {
                run_.setPlan(std::move(made));
            }
        });
}

namespace {

/// Evidence, not proof: the system says how many it ended, and not which.
bool isForMemory(const ProcessEnd& end) {
    return (end.signal == SIGKILL || !end.known) && end.memory_kills.value_or(0) > 0;
}

/// "its process was ended by signal 9 (SIGKILL), ..."
QString endText(const ProcessEnd& end) {
    if (end.signal == 0 && end.known) {
        return Studio::tr("its process ended with exit code %1").arg(end.code);
    }
    const QString what =
        end.signal == 0 ? Studio::tr("its process is gone")
                        : Studio::tr("its process was ended by %1").arg(signalText(end.signal));
    if (isForMemory(end)) {
        return Studio::tr("%1 while the system ran out of memory and ended %n process(es)", nullptr,
                          static_cast<int>(*end.memory_kills))
            .arg(what);
    }
    if (end.signal != SIGKILL) {
        return what;
    }
    return end.memory_kills
               ? Studio::tr("%1; not by the system for want of memory, who did it is not known")
                     .arg(what)
               : Studio::tr("%1; whether for want of memory is not known").arg(what);
}

} // namespace

void Studio::onEnded(const ProcessEnd& end) {
    control_.forgetRequests();
    emit trainingChanged();
    index_.refresh();
    if (train::is_final(run_.state())) {
        return;
    }
    const QString how = endText(end);
    const QString said = log_.lastPrinted();
    const QString why = said.isEmpty() ? how : tr("%1; it last said: %2").arg(how, said);
    log_.ended(why);
    if (run_.state() == train::RunState::idle) {
        run_.fail(tr("%1 did not start: %2").arg(run_.name(), why));
        emit troubled(run_.problem());
        return;
    }
    run_.interrupt(how);
    emit interrupted(why);
    if (isForMemory(end)) {
        explainMemory(how);
    }
}

// Looks for checkpoints: off the GUI thread.
void Studio::explainMemory(const QString& how) {
    runInBackground(
        this,
        [config = run_.config(), folder = run_.folder()] {
            return train::ways_with_less_memory(config, train::newest_checkpoint(folder));
        },
        [this, how, folder = run_.folder()](std::vector<train::WayOn> ways) {
            if (folder == run_.folder() && !isTraining()) {
                run_.explain(
                    {"memory",
                     {},
                     (how.left(1).toUpper() + how.mid(1) + '.').toStdString(),
                     tr("Close what else needs memory and resume, or let the run need less.")
                         .toStdString(),
                     std::move(ways)});
            }
        });
}

} // namespace weft::ui
