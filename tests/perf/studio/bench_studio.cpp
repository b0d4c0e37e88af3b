// SPDX-License-Identifier: GPL-3.0-or-later
// bench_studio [SECONDS]: how quickly the studio answers while training uses every core;
// bench_studio mesh: how quickly Mesh & Plan does, with nothing else going on (bench_studio edits:
// only from an edit of a large mesh to what is seen of it). Run it on a quiet
// machine, without a display (it then takes the offscreen platform). The first measures:
//   - from the visible window to the first loss point of the demo (target 2 s)
//   - a pause request to its acknowledgement (target 100 ms), several times
//   - the longest that one event keeps the GUI thread (target 50 ms) and the 99th percentile
//   - an edit on Mesh & Plan to the layout of it (target 50 ms) and to the plan of all programs
//     (target 500 ms), for the GPT preset, several times; and what planning alone takes of that
//   - the same while a run of 1,000,000 steps is opened, smoothed, put on another axis and browsed
// bench_studio overhead: how much slower a run is while its curves are shown (target 2 %).
// bench_studio runs [LOGS]: a million scalars of event files and event logs, 500 runs in the table,
// 2,000 checkpoints; LOGS is a folder of event files of another program.
// bench_studio curves: 10 runs of 100,000 steps and 50 of 10,000 over each other in the charts.
#include "tests/perf/studio/bench_mesh.h"
#include "tests/perf/studio/bench_overhead.h"
#include "tests/perf/studio/bench_runs.h"
#include "ui/bridge/curve_runs.h"
#include "ui/bridge/draft.h"
#include "ui/bridge/plan_preview.h"
#include "ui/screens/plan/plan_screen.h"
#include "ui/shell/main_window.h"
#include "ui/studio.h"
#include "widgets/controls.h"
#include "widgets/line_chart.h"

#include <QApplication>
#include <QComboBox>
#include <QElapsedTimer>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace {

using namespace weft;

/// Times the delivery of every event: what one slot, timer or repaint keeps the GUI thread from.
class TimedApplication : public QApplication {
public:
    using QApplication::QApplication;

    bool notify(QObject* receiver, QEvent* event) override {
        if (depth_ > 0) {
            return QApplication::notify(receiver, event); // counted by the event around it
        }
        QElapsedTimer clock;
        clock.start();
        ++depth_;
        const bool handled = QApplication::notify(receiver, event);
        --depth_;
        events_ms_.push_back(static_cast<double>(clock.nsecsElapsed()) * 1e-6);
        return handled;
    }
    void reset() { events_ms_.clear(); }
    double percentile(double share) {
        std::sort(events_ms_.begin(), events_ms_.end());
        return events_ms_.empty() ? 0
                                  : events_ms_[static_cast<std::size_t>(
                                        share * static_cast<double>(events_ms_.size() - 1))];
    }
    std::size_t events() const { return events_ms_.size(); }

private:
    int depth_ = 0;
    std::vector<double> events_ms_;
};

/// Milliseconds since the kernel started this process (in clock ticks, mostly of 10 ms).
double process_age_ms() {
    std::ifstream file("/proc/self/stat");
    std::string stat(std::istreambuf_iterator<char>(file), {});
    std::istringstream fields(stat.substr(stat.rfind(')') + 2));
    std::string skipped;
    for (int field = 3; field < 22; ++field) {
        fields >> skipped;
    }
    double start_ticks = 0;
    fields >> start_ticks;
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6 -
           start_ticks * 1e3 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// The folder of a finished run: a noisy falling loss, an evaluation every 1,000 steps.
std::filesystem::path make_long_run(const std::filesystem::path& folder, std::int64_t steps) {
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(std::filesystem::path(WEFT_SOURCE_PRESETS) / "fashion-mlp.json",
                               folder / "config.json");
    std::ofstream log(folder / "events.jsonl");
    train::Event event{1, 1000, train::StateEvent{train::RunState::running, {}, {}, 0, steps}};
    log << to_line(event) << '\n';
    for (std::int64_t i = 1; i <= steps; ++i) {
        train::StepEvent step;
        step.step = i;
        step.epoch = static_cast<double>(i) / 1000;
        step.loss =
            2.3 / std::sqrt(1.0 + static_cast<double>(i) / 500) + 0.05 * std::sin(i * 12.9898);
        step.learning_rate = 1e-3;
        step.grad_norm = 1 + 0.5 * std::sin(i * 78.233);
        event = {event.seq + 1, 1000 + static_cast<double>(i) * 0.01, step};
        log << to_line(event) << '\n';
        if (i % 1000 == 0) {
            event = {event.seq + 1, event.time,
                     train::EvaluationEvent{i, {{"validation/loss", step.loss + 0.1}}}};
            log << to_line(event) << '\n';
        }
    }
    event = {event.seq + 1, event.time,
             train::StateEvent{train::RunState::finished, {}, {}, 0, steps}};
    log << to_line(event) << '\n';
    return folder;
}

bool wait_for(const std::function<bool()>& condition, int limit_ms) {
    return QTest::qWaitFor(condition, limit_ms);
}

void print_events(const char* what, TimedApplication& watch) {
    std::printf("%-32s%zu GUI events: median %.2f ms, p99 %.2f ms, longest %.2f ms  (target 50)\n",
                what, watch.events(), watch.percentile(0.5), watch.percentile(0.99),
                watch.percentile(1.0));
    watch.reset();
}

/// Before anything trains: on a busy machine planning takes as much longer as there is to share.
void edit_a_plan(ui::Studio& studio, ui::MainWindow& window, TimedApplication& watch) {
    studio.openPath(std::filesystem::path(WEFT_SOURCE_PRESETS) / "gpt-6x384.json");
    window.showPage("plan");
    ui::PlanPreview& preview = static_cast<ui::PlanScreen*>(window.page("plan"))->preview();
    wait_for([&] { return preview.isComplete(); }, 30000);
    watch.reset();
    for (const int micro_batch : {8, 16, 8, 16, 8}) {
        QElapsedTimer clock;
        clock.start();
        studio.draft().setField("training.micro_batch_size", micro_batch);
        wait_for([&] { return !preview.isStale(); }, 30000);
        const double layout_ms = static_cast<double>(clock.nsecsElapsed()) * 1e-6;
        wait_for([&] { return preview.isComplete(); }, 30000);
        std::printf("edit to layout, to whole plan   %6.0f ms %6.0f ms  (targets 50, 500)\n",
                    layout_ms, static_cast<double>(clock.nsecsElapsed()) * 1e-6);
    }
    print_events("  while plans came in", watch);
    window.showPage("home"); // ends what is being planned
    const auto planner = ui::PlanPreview::engine(studio.paths().calibration);
    QElapsedTimer clock;
    for (const auto& [name, make] :
         {std::pair("the training step", planner.step), std::pair("all programs", planner.plan)}) {
        clock.start();
        const auto plan = make(studio.draft().config(), nullptr, {});
        std::printf("planning %-22s %6.0f ms, as it says itself %.0f ms\n", name,
                    static_cast<double>(clock.nsecsElapsed()) * 1e-6, plan->compile_ms);
    }
}

void browse_long_run(ui::Studio& studio, ui::MainWindow& window, TimedApplication& watch,
                     const std::filesystem::path& folder) {
    constexpr std::int64_t kSteps = 1000000;
    make_long_run(folder, kSteps);
    watch.reset();
    QElapsedTimer clock;
    clock.start();
    studio.showRun(folder);
    wait_for([&] { return studio.run().step() == kSteps; }, 120000);
    std::printf("run of 1,000,000 steps opened    %6.0f ms\n",
                static_cast<double>(clock.elapsed()));
    print_events("  while it came in", watch);
    auto* smoothing = window.findChild<QSlider*>("smoothing");
    for (const int value : {50, 99, 0, 90}) {
        smoothing->setValue(value);
        QTest::qWait(200);
    }
    print_events("  smoothing changed", watch);
    auto* axis = window.findChild<QComboBox*>("xAxis");
    for (const int index : {1, 2, 0}) {
        axis->setCurrentIndex(index);
        QTest::qWait(500);
    }
    print_events("  x axis changed", watch);
    window.showPage("checkpoints");
    QTest::qWait(1000);
    window.showPage("train");
    QTest::qWait(300);
    print_events("  Checkpoints visited", watch);
}

/// `count` runs of `steps` steps over each other in the charts: until all are there, what a repaint
/// of the loss chart takes, and a move of the crosshair.
void lay_runs_over(ui::Studio& studio, ui::MainWindow& window, TimedApplication& watch,
                   const std::filesystem::path& root, int count, std::int64_t steps) {
    std::vector<std::filesystem::path> folders;
    for (int i = 0; i < count; ++i) {
        char name[64];
        std::snprintf(name, sizeof name, "2026-01-%02d_over-%lld_%03d", i % 28 + 1,
                      static_cast<long long>(steps), i + 1);
        folders.push_back(make_long_run(root / name, steps));
    }
    window.showPage("train");
    auto* curves = window.findChild<ui::CurveRuns*>();
    watch.reset();
    QElapsedTimer clock;
    clock.start();
    studio.showRun(folders.front());
    for (std::size_t i = 1; i < folders.size(); ++i) {
        curves->setVisible(folders[i], true);
    }
    const auto all_there = [&] {
        return std::all_of(curves->runs().begin(), curves->runs().end(), [&](const auto& run) {
            return run->model().step() == steps;
        });
    };
    wait_for(all_there, 300000);
    std::printf("%d runs of %lld steps read          %6.0f ms\n", count,
                static_cast<long long>(steps), static_cast<double>(clock.elapsed()));
    print_events("  while they came in", watch);
    auto* loss = window.findChild<widgets::LineChart*>("lossChart");
    const auto timed = [&](const char* what, double target, auto&& call) {
        std::vector<double> ms;
        for (int i = 0; i < 100; ++i) {
            clock.restart();
            call(i);
            ms.push_back(static_cast<double>(clock.nsecsElapsed()) * 1e-6);
        }
        std::sort(ms.begin(), ms.end());
        std::printf("%-32smedian %.2f ms, p99 %.2f ms  (target %.0f)\n", what, ms[50], ms[99],
                    target);
    };
    timed("  loss chart replotted", 16, [&](int) {
        loss->replotNow();
        QCoreApplication::processEvents();
    });
    timed("  zoomed by a step", 16, [&](int i) {
        loss->setXRange({static_cast<double>(i) * 0.001 * static_cast<double>(steps),
                         static_cast<double>(steps)});
        loss->replotNow();
        QCoreApplication::processEvents();
    });
    loss->resetView();
    timed("  crosshair moved", 2, [&](int i) {
        loss->setCrosshair(static_cast<double>(i) / 100 * static_cast<double>(steps));
    });
    loss->setCrosshair(std::nullopt);
    curves->clearOverlays();
}

} // namespace

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM") && !qEnvironmentVariableIsSet("DISPLAY")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    TimedApplication watch(argc, argv);
    const double seconds = argc > 1 ? std::atof(argv[1]) : 15;
    QTemporaryDir dir;
    const std::filesystem::path root = dir.path().toStdString();
    widgets::ThemeController theme;
    QElapsedTimer clock;
    clock.start();
    ui::Studio studio({root / "runs", WEFT_SOURCE_PRESETS, root / "state", {}, WEFT_PROGRAM});
    ui::MainWindow window(studio, theme);
    window.show();
    studio.index().refresh();
    if (!QTest::qWaitForWindowExposed(&window)) {
        std::puts("the window never appeared");
        return 1;
    }
    std::printf("window visible after             %6.0f ms, %.0f ms after the process began\n",
                static_cast<double>(clock.elapsed()), process_age_ms());
    if (argc > 1 && std::strcmp(argv[1], "mesh") == 0) {
        bench_mesh(studio, window);
        return 0;
    }
    if (argc > 1 && std::strcmp(argv[1], "edits") == 0) {
        bench_edits(studio, window);
        return 0;
    }
    if (argc > 1 && std::strcmp(argv[1], "overhead") == 0) {
        bench_overhead(studio, root / "runs");
        return 0;
    }
    if (argc > 1 && std::strcmp(argv[1], "curves") == 0) {
        lay_runs_over(studio, window, watch, root / "runs", 10, 100000);
        lay_runs_over(studio, window, watch, root / "runs", 50, 10000);
        return 0;
    }
    if (argc > 1 && std::strcmp(argv[1], "runs") == 0) {
        bench_runs(studio, window, root, argc > 2 ? argv[2] : "");
        return 0;
    }
    edit_a_plan(studio, window, watch);
    clock.restart();
    const ui::StartResult started =
        studio.startFile(std::filesystem::path(WEFT_SOURCE_PRESETS) / "fashion-mlp.json");
    if (!started.started) {
        std::printf("not started: %s\n", qPrintable(started.problem));
        return 1;
    }
    if (!wait_for([&] { return studio.run().step() > 0; }, 60000)) {
        std::puts("no first point within a minute");
        return 1;
    }
    std::printf("click to first loss point       %6.0f ms  (target 2000)\n",
                static_cast<double>(clock.elapsed()));
    for (int i = 0; i < 5 && studio.isTraining(); ++i) {
        clock.restart();
        studio.pause();
        wait_for([&] { return studio.pendingCommand().isEmpty(); }, 10000);
        std::printf("pause acknowledged after        %6.1f ms  (target 100)\n",
                    static_cast<double>(clock.nsecsElapsed()) * 1e-6);
        wait_for([&] { return studio.run().state() == train::RunState::paused; }, 10000);
        studio.resume();
        wait_for([&] { return studio.run().state() == train::RunState::running; }, 10000);
    }
    watch.reset();
    wait_for([&] { return !studio.isTraining(); }, static_cast<int>(seconds * 1000));
    print_events("training", watch);
    if (studio.isTraining()) {
        studio.stopNow();
        wait_for([&] { return !studio.isTraining(); }, 10000);
    }
    browse_long_run(studio, window, watch, root / "runs" / "2026-01-01_long_001");
    return 0;
}
