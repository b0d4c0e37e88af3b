// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, targets 19, 21 and 27: checkpoints of 100 MB, written while training; a worker that is
// killed, and what is left.
#include "core/checkpoint/checkpoint.h"
#include "core/train/record/run_folder.h"
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"
#include "tests/perf/studio/timed_application.h"

#include <QElapsedTimer>
#include <QPushButton>

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace {

using namespace weft;
using bench::wait_for;

constexpr std::int64_t kInterval = 20;
constexpr std::size_t kSaves = 6;
constexpr int kKills = 3;

bool start_saving(ui::Studio& studio) {
    studio.opener().open(bench::OpenStudio::preset("fashion-mlp.json"));
    studio.draft().apply({"model.hidden=[2560,2560]", "training.length={\"steps\":100000}",
                          "checkpoint.every={\"steps\":" + std::to_string(kInterval) + "}",
                          "evaluation.every={\"steps\":100000}", "evaluation.at_start=false"});
    const ui::StartResult started = studio.control().startDraft();
    if (!started.started) {
        std::printf("not started: %s\n", qPrintable(started.problem));
    }
    return started.started && wait_for("the first step", [&] { return studio.run().step() > 0; });
}

void save(ui::Studio& studio) {
    auto& watch = bench::TimedApplication::self();
    watch.reset();
    wait_for("checkpoints", [&] { return studio.run().checkpoints().size() >= kSaves; });
    std::vector<double> blocked;
    std::vector<double> written;
    for (const train::CheckpointEvent& one : studio.run().checkpoints()) {
        blocked.push_back(one.blocked_ms);
        written.push_back(one.write_ms);
    }
    const double bytes = static_cast<double>(studio.run().checkpoints().back().bytes);
    bench::print("    size of a checkpoint", bytes / 1e6, "MB", 100);
    bench::print("19  training held up by a save (1 step)", blocked, studio.run().speed().step_ms);
    bench::print("    written in the background", written,
                 studio.run().speed().step_ms * kInterval);
    watch.report("19  the window meanwhile");
}

/// Kills the worker wherever it is, looks at what is left, and goes on.
void kill_and_resume(bench::OpenStudio& open, int turn) {
    ui::Studio& studio = open.studio();
    wait_for("the moment to kill it",
             [&] { return studio.run().step() % kInterval == turn * 7 % kInterval; });
    const std::filesystem::path folder = studio.run().folder();
    const auto lock = train::read_lock(folder);
    const std::int64_t reached = studio.run().step();
    const std::size_t resumed_before = studio.run().resumes().size();
    if (!lock || lock->pid == 0) {
        return;
    }
    QElapsedTimer clock;
    clock.start();
    ::kill(static_cast<pid_t>(lock->pid), SIGKILL);
    wait_for("a dead worker noticed", [&] { return !studio.isTraining(); });
    bench::print("27  a killed run offers to go on after", bench::ms_since(clock), "ms", 1000);
    int damaged = 0;
    std::int64_t newest = 0;
    const double verified = bench::timed_once([&] {
        for (const checkpoint::Entry& entry :
             checkpoint::list_checkpoints(folder / "checkpoints")) {
            if (entry.path.filename().string().starts_with("step-")) {
                const bool whole =
                    entry.problem.empty() &&
                    checkpoint::verify(checkpoint::read_manifest(entry.path)).empty();
                damaged += whole ? 0 : 1;
                newest = std::max(newest, entry.step);
            }
        }
    });
    std::printf("  27  damaged checkpoints                          %8d (target 0), verified in "
                "%.0f ms\n",
                damaged, verified);
    bench::print("27  steps lost", static_cast<double>(reached - newest), "steps",
                 static_cast<double>(kInterval));
    clock.start();
    open.studio().opener().open(folder / "checkpoints" / checkpoint::folder_name(newest));
    auto* resume = open.window().findChild<QPushButton*>("resumeRun");
    bench::show_until("what resuming would do",
                      [&] { return resume->isVisible() && resume->isEnabled(); });
    bench::print("21  a checkpoint opened, to what resuming does", bench::ms_since(clock), "ms",
                 1000);
    open.window().showPage("train");
    clock.start();
    const ui::StartResult resumed = studio.control().resumeRun(folder);
    if (!resumed.started) {
        std::printf("not resumed: %s\n", qPrintable(resumed.problem));
        return;
    }
    // The step after the checkpoint: what follows, up to where the run was killed, is training.
    if (wait_for("a resumed run's first step", [&] {
            return studio.run().resumes().size() > resumed_before && studio.run().step() > newest;
        })) {
        bench::print("21  resumed, to its first step", bench::ms_since(clock), "ms", 5000);
    }
}

} // namespace

void bench_saves() {
    bench::OpenStudio open;
    open.window().showPage("train");
    if (!start_saving(open.studio())) {
        return;
    }
    save(open.studio());
    for (int turn = 0; turn < kKills && open.studio().isTraining(); ++turn) {
        kill_and_resume(open, turn);
    }
    bench::stop_training(open);
}
