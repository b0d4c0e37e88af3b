// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, targets 6, 7 and 8 on the Train page: runs laid over each other in its charts.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"
#include "tests/perf/studio/timed_application.h"
#include "ui/bridge/run/curve_runs.h"
#include "widgets/curves/line_chart.h"

#include <QElapsedTimer>

#include <algorithm>
#include <cstdio>

namespace {

using namespace weft;

constexpr int kMoves = 100;

/// `count` runs of `steps` steps over each other: until all are there, what a repaint of the loss
/// chart takes, and a move of the crosshair.
void lay_over(bench::OpenStudio& open, int count, std::int64_t steps) {
    std::vector<std::filesystem::path> folders;
    for (int i = 0; i < count; ++i) {
        char name[64];
        std::snprintf(name, sizeof name, "2026-01-%02d_over-%lld_%03d", i % 28 + 1,
                      static_cast<long long>(steps), i + 1);
        folders.push_back(bench::make_long_run(open.runs() / name, steps));
    }
    open.window().showPage("train");
    auto* curves = open.window().findChild<ui::CurveRuns*>();
    auto* loss = open.window().findChild<widgets::LineChart*>("lossChart");
    auto& watch = bench::TimedApplication::self();
    watch.reset();
    QElapsedTimer clock;
    clock.start();
    open.studio().showRun(folders.front());
    for (std::size_t i = 1; i < folders.size(); ++i) {
        curves->setVisible(folders[i], true);
    }
    bench::wait_for("all runs read", [&] {
        return std::all_of(curves->runs().begin(), curves->runs().end(),
                           [&](const auto& run) { return run->model().step() == steps; });
    });
    std::printf("%d runs of %lld steps\n", count, static_cast<long long>(steps));
    bench::print("    read and shown", static_cast<double>(clock.elapsed()), "ms", 1000.0 * count);
    watch.report("3   while they came in");
    const auto range = [&](int i) {
        return widgets::ChartRange{0.001 * i * static_cast<double>(steps),
                                   static_cast<double>(steps)};
    };
    bench::print("6,7 loss chart replotted",
                 bench::timed(kMoves,
                              [&](int) {
                                  loss->replotNow();
                                  bench::settle();
                              }),
                 16);
    bench::print("9   zoomed by a step",
                 bench::timed(kMoves,
                              [&](int i) {
                                  loss->setXRange(range(i));
                                  loss->replotNow();
                                  bench::settle();
                              }),
                 16);
    loss->resetView();
    bench::print(
        "8   crosshair moved",
        bench::timed(kMoves,
                     [&](int i) { loss->setCrosshair(0.01 * i * static_cast<double>(steps)); }),
        2);
    loss->setCrosshair(std::nullopt);
    curves->clearOverlays();
}

} // namespace

void bench_curves() {
    bench::OpenStudio open;
    lay_over(open, 10, 100000);
    lay_over(open, 50, 10000);
}
