// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, targets 4 to 11: curves. "Raw" hands every point to QCustomPlot, as a chart without the
// store would; the others are what the studio does.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/suites.h"
#include "widgets/curves/line_chart.h"
#include "widgets/curves/series_store.h"

#include <QMouseEvent>
#include <QVBoxLayout>
#include <qcustomplot.h>

#include <cmath>
#include <string>

namespace {

using namespace weft;

constexpr int kWidth = 1000;
constexpr int kHeight = 360;
constexpr int kReplots = 30;

/// A falling noisy loss from step `first` on.
struct Points {
    std::vector<double> x;
    std::vector<double> y;

    Points(std::int64_t first, std::int64_t count, double seed = 0) {
        x.reserve(static_cast<std::size_t>(count));
        y.reserve(static_cast<std::size_t>(count));
        for (std::int64_t i = first; i < first + count; ++i) {
            const auto step = static_cast<double>(i);
            x.push_back(step);
            y.push_back(2.3 / std::sqrt(1.0 + step / 500) + 0.05 * std::sin(step * 12.9898 + seed));
        }
    }
};

/// A chart with as many runs of as many points, shown.
std::unique_ptr<widgets::LineChart> chart_of(int runs, std::int64_t points,
                                             widgets::SeriesForm form) {
    auto chart = std::make_unique<widgets::LineChart>();
    chart->resize(kWidth, kHeight);
    chart->setSmoothing(0.6);
    for (int run = 0; run < runs; ++run) {
        const std::string name = "run " + std::to_string(run);
        const int id = chart->addSeries({QString::fromStdString(name), {}, run, form});
        const Points all(1, points, run);
        chart->append(id, all.x, all.y);
    }
    chart->show();
    bench::wait_for("a chart on screen", [&] { return chart->isVisible(); });
    bench::settle();
    return chart;
}

void replot(const char* what, widgets::LineChart& chart, double target) {
    bench::print(what, bench::timed(kReplots, [&](int) { chart.replotNow(); }), target);
}

/// Every point as a graph of QCustomPlot, which decimates by itself.
void replot_raw(const char* what, int runs, std::int64_t points, double target) {
    QCustomPlot plot;
    plot.resize(kWidth, kHeight);
    for (int run = 0; run < runs; ++run) {
        const Points all(1, points, run);
        plot.addGraph()->setData(QVector<double>(all.x.begin(), all.x.end()),
                                 QVector<double>(all.y.begin(), all.y.end()), true);
    }
    plot.rescaleAxes();
    plot.show();
    bench::settle();
    bench::print(what, bench::timed(5, [&](int) { plot.replot(QCustomPlot::rpImmediateRefresh); }),
                 target);
}

void move_mouse(widgets::LineChart& chart, const QPointF& at) {
    QWidget* plot = chart.plot();
    QMouseEvent move(QEvent::MouseMove, at, plot->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                     Qt::NoModifier);
    QCoreApplication::sendEvent(plot, &move);
    bench::settle();
}

void dashboard() {
    bench::section("4  live charts");
    constexpr int kCharts = 6;
    constexpr int kPerTick = 400; // 10,000 points a second at 25 Hz
    QWidget board;
    board.resize(kWidth, 900);
    auto* column = new QVBoxLayout(&board);
    std::vector<widgets::LineChart*> charts;
    std::vector<int> ids;
    for (int i = 0; i < kCharts; ++i) {
        auto* chart = new widgets::LineChart;
        column->addWidget(chart);
        ids.push_back(chart->addSeries({QStringLiteral("loss"), {}, 0}));
        const Points all(1, 100000, i);
        chart->append(ids.back(), all.x, all.y);
        charts.push_back(chart);
    }
    board.show();
    bench::settle();
    const auto ms = bench::timed(100, [&](int tick) {
        const Points more(100001 + tick * kPerTick, kPerTick);
        for (int i = 0; i < kCharts; ++i) {
            charts[static_cast<std::size_t>(i)]->append(ids[static_cast<std::size_t>(i)], more.x,
                                                        more.y);
        }
        bench::settle();
    });
    bench::print("6 charts of 100k, one tick with all painted", ms, 10);
}

void one_chart() {
    bench::section("5, 8, 9  one chart of 1,000,000 points");
    const auto chart = chart_of(1, 1000000, widgets::SeriesForm::Plain);
    replot("replot", *chart, 8);
    chart->plot()->setBufferDevicePixelRatio(2);
    replot("replot at 2x", *chart, 20);
    chart->plot()->setBufferDevicePixelRatio(1);
    bench::print("the crosshair follows the mouse",
                 bench::timed(200, [&](int i) { move_mouse(*chart, QPointF(100 + i * 4, 120)); }),
                 2);
    bench::print("zoom in and paint",
                 bench::timed(40,
                              [&](int) {
                                  chart->zoom(0.8);
                                  chart->replotNow();
                              }),
                 bench::kFrameMs);
    bench::print("pan and paint",
                 bench::timed(100,
                              [&](int i) {
                                  chart->setXRange({10000.0 + i * 100, 20000.0 + i * 100});
                                  chart->replotNow();
                              }),
                 bench::kFrameMs);
    chart->resetView();
    bench::print("smoothing all of it anew, and paint",
                 bench::timed(5,
                              [&](int i) {
                                  chart->setSmoothing(0.5 + i * 0.1);
                                  chart->replotNow();
                              }),
                 100);
}

void overlays() {
    bench::section("6, 7  runs laid over each other");
    replot("10 runs x 100k", *chart_of(10, 100000, widgets::SeriesForm::Thin), 16);
    replot("10 runs x 1M", *chart_of(10, 1000000, widgets::SeriesForm::Thin), 16);
    replot_raw("10 runs x 1M, raw", 10, 1000000, 60);
    replot("50 runs x 10k", *chart_of(50, 10000, widgets::SeriesForm::Thin), 16);
    replot_raw("50 runs x 10k, raw", 50, 10000, 30);
}

void appends() {
    bench::section("10, 11  points that come in");
    auto chart = chart_of(1, 1000000, widgets::SeriesForm::Smoothed);
    const int id = chart->addSeries({QStringLiteral("more"), {}, 1});
    bench::print("append 400 points, a tick of 10,000 a second",
                 bench::timed(250,
                              [&](int tick) {
                                  const Points more(1 + tick * 400, 400);
                                  chart->append(id, more.x, more.y);
                              }),
                 5);
    chart.reset();
    constexpr std::int64_t kMany = 10000000;
    const double before = bench::resident_mib();
    widgets::SeriesStore store;
    for (std::int64_t first = 1; first <= kMany; first += 100000) {
        const Points more(first, 100000);
        store.append(more.x, more.y);
    }
    bench::print("bytes a point, pyramid and smoothing included",
                 static_cast<double>(store.bytes()) / kMany, "B", 24 * 1.15);
    bench::print("10M points", bench::resident_mib() - before, "MiB", 300e6 / (1 << 20));
}

} // namespace

void bench_charts() {
    dashboard();
    one_chart();
    overlays();
    appends();
}
