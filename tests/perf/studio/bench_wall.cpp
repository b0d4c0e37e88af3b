// SPDX-License-Identifier: GPL-3.0-or-later
// The chart wall: 500 runs in 20 charts, read, panned, zoomed and pointed at.
#include "core/train/record/run_summary.h"
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/suites.h"
#include "tests/perf/studio/timed_application.h"
#include "tests/perf/studio/timed_application.h"
#include "ui/pages/runs/runs_page.h"
#include "ui/pages/runs/wall/wall_panel.h"
#include "widgets/curves/line_chart.h"

#include <QMouseEvent>
#include <QScrollArea>
#include <QScrollBar>
#include <QTableView>
#include <qcustomplot.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

using namespace weft;

namespace {

namespace fs = std::filesystem;

constexpr int kWallRuns = 500;
constexpr int kWallMetrics = 20;
constexpr int kWallPoints = 1000;
constexpr double kExactMs = 500;

/// As MetricsStore writes it.
void write_series(const fs::path& file, int run, int metric) {
    fs::create_directories(file.parent_path());
    std::string bytes;
    bytes.reserve(static_cast<std::size_t>(kWallPoints) * 24);
    for (std::int64_t step = 1; step <= kWallPoints; ++step) {
        const auto at = static_cast<double>(step);
        const double time = 1e9 + at;
        const double value = (1 + 0.002 * run) * 2.3 / std::sqrt(1.0 + at / (50 + metric)) +
                             0.05 * std::sin(at * 12.9898 + run * 7 + metric);
        char record[24];
        std::memcpy(record, &step, 8);
        std::memcpy(record + 8, &time, 8);
        std::memcpy(record + 16, &value, 8);
        bytes.append(record, 24);
    }
    std::ofstream(file, std::ios::binary) << bytes;
}

void make_wall(const fs::path& root) {
    for (int i = 0; i < kWallRuns; ++i) {
        const fs::path run = root / ("2026-01-01_wall_" + std::to_string(1000 + i));
        fs::create_directories(run);
        std::ofstream(run / "config.json")
            << R"({"optimizer": {"learning_rate": )" << 1e-4 * (1 + i % 17) << R"(}, "seed": )"
            << i % 5 << "}";
        train::RunInfo info;
        info.name = "wall";
        info.state = "finished";
        train::write_run_info(run, info);
        std::ofstream events(run / "events.jsonl");
        train::EvaluationEvent evaluation{kWallPoints, {}};
        for (int metric = 0; metric < kWallMetrics; ++metric) {
            const std::string name =
                (metric % 2 == 0 ? "validation/m" : "train/m") + std::to_string(metric);
            evaluation.metrics.emplace_back(name, 1.0);
            write_series(run / "metrics" / (name + ".f64"), i, metric);
        }
        events << train::to_line({1, 1e9 + kWallPoints, evaluation}) << '\n';
    }
}

bool is_drawn(const ui::WallPanel& wall) {
    const auto cells = wall.visibleCells();
    return wall.isSettled() && !cells.empty() &&
           std::all_of(cells.begin(), cells.end(), [](ui::WallCell* cell) {
               return cell->chart()->isExact() && cell->points() > 0;
           });
}

/// A frame: an event of the mouse, and everything that it makes necessary, painted.
void move_to(widgets::LineChart& chart, const QPointF& at, Qt::MouseButtons buttons,
             QEvent::Type type = QEvent::MouseMove) {
    QWidget* plot = chart.plot();
    QMouseEvent event(type, at, plot->mapToGlobal(at),
                      type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton, buttons,
                      Qt::NoModifier);
    QCoreApplication::sendEvent(plot, &event);
    bench::settle();
}

void wheel_at(widgets::LineChart& chart, const QPointF& at, int notches) {
    QWheelEvent wheel(at, chart.plot()->mapToGlobal(at), {}, {0, 30 * notches}, Qt::NoButton,
                      Qt::ShiftModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(chart.plot(), &wheel);
    bench::settle();
}

void time_exact(const char* what, const ui::WallPanel& wall) {
    QElapsedTimer clock;
    clock.start();
    bench::wait_for("the charts exact again", [&] { return is_drawn(wall); });
    bench::print(what, bench::ms_since(clock), "ms", kExactMs);
}

} // namespace

void bench_wall() {
    bench::section("    500 runs x 20 charts of 1,000 points");
    bench::OpenStudio open;
    make_wall(open.runs());
    open.window().resize(1440, 900);
    open.window().showPage("runs");
    open.studio().index().refresh();
    auto* table = open.window().findChild<QTableView*>("runTable");
    if (!bench::wait_for("500 runs listed",
                         [&] { return table->model()->rowCount() == kWallRuns; })) {
        return;
    }
    auto* page = static_cast<ui::RunsPage*>(open.window().page("runs"));
    QElapsedTimer clock;
    clock.start();
    bench::TimedApplication::self().reset();
    page->setMode(ui::RunsPage::ChartsMode);
    QCoreApplication::processEvents(); // what is read comes in turns after this one
    ui::WallPanel& wall = *page->wall();
    bench::print("charts asked for, in the window", bench::ms_since(clock), "ms", 100);
    if (!bench::wait_for("the first charts drawn", [&] { return is_drawn(wall); })) {
        return;
    }
    const auto cells = wall.visibleCells();
    std::printf("  %zu charts in view, %zu lines each\n", cells.size(),
                cells.front()->section().lines.size());
    bench::print("charts in view read and drawn", bench::ms_since(clock), "ms", 10000);
    bench::TimedApplication::self().report("meanwhile");
    widgets::LineChart& chart = *cells.front()->chart();
    const QPointF middle = chart.plot()->rect().center();
    bench::print("crosshair on all charts and their values, a frame",
                 bench::timed(120, [&](int i) { move_to(chart, middle + QPointF(i % 60, 0), {}); }),
                 bench::kFrameMs);
    for (int i = 0; i < 4; ++i) {
        wheel_at(chart, middle, 4);
    }
    time_exact("exact after a zoom", wall);
    move_to(chart, middle, Qt::LeftButton, QEvent::MouseButtonPress);
    bench::print(
        "panned, a frame",
        bench::timed(
            120, [&](int i) { move_to(chart, middle + QPointF(10 + i % 60, 0), Qt::LeftButton); }),
        bench::kFrameMs);
    move_to(chart, middle, {}, QEvent::MouseButtonRelease);
    time_exact("exact after the pan", wall);
    bench::print("zoomed, a frame",
                 bench::timed(60, [&](int i) { wheel_at(chart, middle, i % 20 < 10 ? 1 : -1); }),
                 bench::kFrameMs);
    time_exact("exact after the zoom", wall);
    bench::print("another run stands out, a frame",
                 bench::timed(60,
                              [&](int i) {
                                  wall.highlight(
                                      page->looks().runs()[static_cast<std::size_t>(i)].folder);
                                  bench::settle();
                              }),
                 bench::kFrameMs);
    clock.restart();
    wall.findChild<QScrollArea*>("wallScroll")->verticalScrollBar()->setValue(400);
    bench::settle();
    bench::wait_for("charts scrolled to", [&] { return is_drawn(wall); });
    bench::print("scrolled to other charts: read and drawn", bench::ms_since(clock), "ms", 10000);
    bench::print("memory", bench::resident_mib(), "MiB", 2048);
}
