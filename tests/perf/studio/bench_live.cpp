// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, targets 3, 16, 17 and 18: the demo, and what the window does while it trains on every
// core.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"
#include "tests/perf/studio/timed_application.h"

#include <QComboBox>
#include <QElapsedTimer>
#include <QSlider>
#include <QTest>

#include <cstdio>

namespace {

using namespace weft;
using bench::wait_for;

constexpr const char* kDemo = "fashion-mlp.json";
constexpr int kPauses = 5;
constexpr int kSteps = 5;
constexpr int kWatchMs = 15000;
constexpr std::int64_t kLongRun = 1000000;

double since(const QElapsedTimer& clock) {
    return static_cast<double>(clock.nsecsElapsed()) * 1e-6;
}

void pause(ui::Studio& studio) {
    std::vector<double> acknowledged;
    std::vector<double> paused;
    QElapsedTimer clock;
    for (int i = 0; i < kPauses && studio.isTraining(); ++i) {
        clock.start();
        studio.pause();
        bench::show_until("a pause acknowledged", [&] { return studio.pendingCommand().isEmpty(); });
        acknowledged.push_back(since(clock));
        bench::show_until("a paused run",
                          [&] { return studio.run().state() == train::RunState::paused; });
        paused.push_back(since(clock));
        studio.resume();
        wait_for("a run that goes on", [&] { return studio.run().state() == train::RunState::running; });
    }
    bench::print("17  pause acknowledged", acknowledged, 100);
    bench::print("17  paused, after 1 step and 200 ms", paused, 200 + studio.run().speed().step_ms);
}

void step(ui::Studio& studio) {
    studio.pause();
    wait_for("a paused run", [&] { return studio.run().state() == train::RunState::paused; });
    std::vector<double> shown;
    for (int i = 0; i < kSteps && studio.isTraining(); ++i) {
        const std::int64_t before = studio.run().step();
        QElapsedTimer clock;
        clock.start();
        studio.singleStep();
        bench::show_until("a single step", [&] { return studio.run().step() > before; });
        bench::settle();
        shown.push_back(since(clock));
        wait_for("a paused run", [&] { return studio.run().state() == train::RunState::paused; });
    }
    bench::print("18  a single step done and painted, 200 ms after it", shown,
                 200 + studio.run().speed().step_ms);
    studio.resume();
    wait_for("a run that goes on", [&] { return studio.run().state() == train::RunState::running; });
}

void browse(bench::OpenStudio& open) {
    auto& watch = bench::TimedApplication::self();
    const auto folder = bench::make_long_run(open.runs() / "2026-01-01_long_001", kLongRun);
    watch.reset();
    QElapsedTimer clock;
    clock.start();
    open.studio().showRun(folder);
    wait_for("a long run read", [&] { return open.studio().run().step() == kLongRun; });
    bench::print("24  a run of 1,000,000 steps opened", since(clock), "ms", 1000);
    watch.report("3   while it came in");
    if (auto* smoothing = open.window().findChild<QSlider*>("smoothing")) {
        for (const int value : {50, 99, 0, 90}) {
            smoothing->setValue(value);
            QTest::qWait(200);
        }
        watch.report("3   its smoothing changed");
    }
    if (auto* axis = open.window().findChild<QComboBox*>("xAxis")) {
        for (const int index : {1, 2, 0}) {
            axis->setCurrentIndex(index);
            QTest::qWait(500);
        }
        watch.report("3   its x axis changed");
    }
    open.window().showPage("checkpoints");
    QTest::qWait(1000);
    open.window().showPage("train");
    QTest::qWait(300);
    watch.report("3   Checkpoints visited");
}

} // namespace

void bench_live() {
    bench::OpenStudio open;
    ui::Studio& studio = open.studio();
    open.window().showPage("train");
    bench::settle();
    QElapsedTimer clock;
    clock.start();
    if (!bench::start_preset(open, kDemo)) {
        return;
    }
    bench::print("16  click to first loss point of the demo", since(clock), "ms", 2000);
    wait_for("100 steps and an evaluation",
             [&] { return !studio.run().evaluations().empty() && studio.run().step() > 100; });
    bench::print("16  click to visible learning (100 steps)", since(clock), "ms", 15000);
    pause(studio);
    step(studio);
    bench::TimedApplication::self().reset();
    bench::linger(kWatchMs);
    bench::TimedApplication::self().report("3   training for 15 s");
    if (studio.isTraining()) {
        clock.start();
        bench::stop_training(open);
        bench::print("17  stopped at once", since(clock), "ms", 2000);
    }
    browse(open);
}
