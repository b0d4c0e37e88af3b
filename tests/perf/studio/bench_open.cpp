// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, targets 3 and 24: a run of a million steps, brought on screen from its folder.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"
#include "tests/perf/studio/timed_application.h"
#include "ui/pages/page.h"
#include "widgets/curves/line_chart.h"

#include <QComboBox>
#include <QElapsedTimer>
#include <QSlider>

#include <algorithm>

namespace {

using namespace weft;

constexpr std::int64_t kLongRunSteps = 1000000;
constexpr int kCharts = 3;  // loss, learning rate, gradient norm
constexpr int kSeries = 64; // more than a chart has had by then

/// Every chart of the page has so many points of the run.
bool all_drawn(bench::OpenStudio& open, std::size_t points) {
    const auto charts = open.window().page("train")->findChildren<widgets::LineChart*>();
    int drawn = 0;
    for (const widgets::LineChart* chart : charts) {
        std::size_t most = 0;
        for (int series = 1; series < kSeries; ++series) {
            most = std::max(most, chart->pointCount(series));
        }
        drawn += most >= points ? 1 : 0;
    }
    return drawn >= kCharts;
}

void show_run(bench::OpenStudio& open, const std::filesystem::path& folder) {
    auto& watch = bench::TimedApplication::self();
    watch.reset();
    QElapsedTimer clock;
    clock.start();
    open.studio().showRun(folder);
    bench::show_until("the first points", [&] { return all_drawn(open, 1); });
    bench::settle();
    bench::print("2   the beginning of 1,000,000 steps on screen", bench::ms_since(clock), "ms",
                 1000);
    bench::show_until("all points", [&] { return all_drawn(open, kLongRunSteps); });
    bench::settle();
    bench::print("24  all of 1,000,000 steps on screen", bench::ms_since(clock), "ms", 1000);
    watch.report("3   while they came in");
}

} // namespace

void bench_open() {
    bench::OpenStudio open;
    open.window().showPage("train");
    const auto folder = bench::make_long_run(open.runs() / "2026-01-01_long_001", kLongRunSteps);
    show_run(open, folder);
    auto& watch = bench::TimedApplication::self();
    if (auto* smoothing = open.window().findChild<QSlider*>("smoothing")) {
        for (const int value : {50, 99, 0, 90}) {
            smoothing->setValue(value);
            bench::linger(200);
        }
        watch.report("3   its smoothing changed");
    }
    if (auto* axis = open.window().findChild<QComboBox*>("xAxis")) {
        for (const int index : {1, 2, 0}) {
            axis->setCurrentIndex(index);
            bench::linger(500);
        }
        watch.report("3   its x axis changed");
    }
    open.window().showPage("checkpoints");
    bench::linger(1000);
    open.window().showPage("train");
    bench::linger(300);
    watch.report("3   Checkpoints visited");
}
