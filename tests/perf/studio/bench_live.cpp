// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, targets 3, 16, 17 and 18: the demo, and what the window does while it trains on every
// core.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"
#include "tests/perf/studio/timed_application.h"

#include <QElapsedTimer>
#include <QTest>

#include <cstdio>

namespace {

using namespace weft;
using bench::wait_for;

constexpr const char* kDemo = "fashion-mlp.json";
constexpr int kPauses = 5;
constexpr int kSingleSteps = 5;
constexpr int kWatchMs = 15000;

void pause(ui::Studio& studio) {
    std::vector<double> acknowledged;
    std::vector<double> paused;
    QElapsedTimer clock;
    for (int i = 0; i < kPauses && studio.isTraining(); ++i) {
        clock.start();
        studio.control().pause();
        bench::show_until("a pause acknowledged",
                          [&] { return studio.control().pendingCommand().isEmpty(); });
        acknowledged.push_back(bench::ms_since(clock));
        bench::show_until("a paused run",
                          [&] { return studio.run().state() == train::RunState::paused; });
        paused.push_back(bench::ms_since(clock));
        studio.control().resume();
        wait_for("a run that goes on", [&] { return studio.run().state() == train::RunState::running; });
    }
    bench::print("17  pause acknowledged", acknowledged, 100);
    bench::print("17  paused, after 1 step and 200 ms", paused, 200 + studio.run().speed().step_ms);
}

void step(ui::Studio& studio) {
    studio.control().pause();
    wait_for("a paused run", [&] { return studio.run().state() == train::RunState::paused; });
    std::vector<double> shown;
    for (int i = 0; i < kSingleSteps && studio.isTraining(); ++i) {
        const std::int64_t before = studio.run().step();
        QElapsedTimer clock;
        clock.start();
        studio.control().singleStep();
        bench::show_until("a single step", [&] { return studio.run().step() > before; });
        bench::settle();
        shown.push_back(bench::ms_since(clock));
        wait_for("a paused run", [&] { return studio.run().state() == train::RunState::paused; });
    }
    bench::print("18  a single step done and painted, 200 ms after it", shown,
                 200 + studio.run().speed().step_ms);
    studio.control().resume();
    wait_for("a run that goes on", [&] { return studio.run().state() == train::RunState::running; });
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
    bench::print("16  click to first loss point of the demo", bench::ms_since(clock), "ms", 2000);
    wait_for("100 steps and an evaluation",
             [&] { return !studio.run().evaluations().empty() && studio.run().step() > 100; });
    bench::print("16  click to visible learning (100 steps)", bench::ms_since(clock), "ms", 15000);
    pause(studio);
    step(studio);
    bench::TimedApplication::self().reset();
    bench::linger(kWatchMs);
    bench::TimedApplication::self().report("3   training for 15 s");
    if (studio.isTraining()) {
        clock.start();
        bench::stop_training(open);
        bench::print("17  stopped at once", bench::ms_since(clock), "ms", 2000);
    }
}
