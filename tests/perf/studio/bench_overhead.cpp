// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, target 23: what a window that shows a run costs its training. The same worker trains
// with a window that draws every step, and with one that nobody looks at; in turns, so that a
// machine that slows down slows both.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>

namespace {

using namespace weft;

constexpr int kTurns = 8;
constexpr int kTurnMs = 3000;

/// Steps a second over one turn.
double rate(ui::Studio& studio) {
    QTest::qWait(500); // what the change of page made necessary is over
    const std::int64_t first = studio.run().step();
    QElapsedTimer clock;
    clock.start();
    QTest::qWait(kTurnMs);
    return static_cast<double>(studio.run().step() - first) * 1e3 /
           static_cast<double>(clock.elapsed());
}

double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all.empty() ? 0 : all[all.size() / 2];
}

} // namespace

void bench_overhead() {
    for (const char* preset : {"fashion-mlp.json", "tiny-gpt.json"}) {
        bench::OpenStudio open;
        ui::Studio& studio = open.studio();
        studio.openPath(bench::OpenStudio::preset(preset));
        studio.draft().apply({"training.length={\"steps\":1000000}", "evaluation.every=null"});
        if (!studio.startDraft().started ||
            !bench::wait_for([&] { return studio.run().step() > 10; })) {
            continue;
        }
        std::vector<double> watched;
        std::vector<double> alone;
        for (int turn = 0; turn < kTurns && studio.isTraining(); ++turn) {
            open.window().show();
            open.window().showPage("train");
            watched.push_back(rate(studio));
            open.window().hide();
            alone.push_back(rate(studio));
        }
        bench::stop_training(open);
        bench::section(preset);
        bench::print("    steps a second, nobody looks", median(alone), "/s", median(alone));
        bench::print("23  training lost to the window", 100 * (1 - median(watched) / median(alone)),
                     "%", 2);
    }
}
