// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, target 22: a flood of lines, and a filter over a million.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/suites.h"
#include "tests/perf/studio/timed_application.h"
#include "widgets/controls/log_view.h"

#include <QElapsedTimer>
#include <QListView>

namespace {

using namespace weft;

constexpr int kTicks = 300; // 10 ms each
constexpr int kPerTick = 500;
constexpr int kMany = 1000000;

std::vector<widgets::LogLine> lines(int first, int count) {
    std::vector<widgets::LogLine> out;
    out.reserve(static_cast<std::size_t>(count));
    for (int i = first; i < first + count; ++i) {
        const auto level = i % 100 == 0 ? widgets::LogLevel::Warning : widgets::LogLevel::Info;
        out.push_back({i, level, QStringLiteral("train"),
                       QStringLiteral("step %1 loss %2").arg(i).arg(2.3 / (1 + i)), i});
    }
    return out;
}

void flood() {
    widgets::LogView view;
    view.resize(1000, 300);
    view.show();
    bench::settle();
    auto& watch = bench::TimedApplication::self();
    watch.reset();
    QElapsedTimer clock;
    clock.start();
    std::vector<double> ticks;
    for (int tick = 0; tick < kTicks; ++tick) {
        auto batch = lines(tick * kPerTick, kPerTick);
        ticks.push_back(bench::timed_once([&] {
            view.append(std::move(batch));
            bench::settle();
        }));
        bench::wait_for("the next tick", [&] { return clock.elapsed() >= (tick + 1) * 10; });
    }
    bench::print("22  50,000 lines a second, 500 taken and shown", ticks, bench::kFrameMs);
    watch.report("22  meanwhile");
    bench::print("22  lines a second", kTicks * kPerTick / (clock.elapsed() / 1e3), "lines", 50000);
}

void filter() {
    widgets::LogModel model(nullptr, kMany);
    for (int first = 0; first < kMany; first += 100000) {
        model.append(lines(first, 100000));
    }
    auto& watch = bench::TimedApplication::self();
    watch.reset();
    std::vector<double> filtered;
    for (const char* words : {"99", "step 5", "nothing has this", "loss 0.0001", ""}) {
        QElapsedTimer clock;
        clock.start();
        model.setFilter(widgets::LogLevel::Debug, words);
        bench::show_until("a filter", [&] { return !model.isFiltering(); });
        filtered.push_back(static_cast<double>(clock.nsecsElapsed()) * 1e-6);
    }
    bench::print("22  a filter over 1,000,000 lines, in the background", filtered, 300);
    watch.report("22  the window meanwhile");
}

} // namespace

void bench_logs() {
    flood();
    filter();
}
