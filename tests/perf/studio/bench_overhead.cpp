// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, target 23: what a studio that shows a run takes of its speed: samples of one run of
// `weft train`, in turns with nobody connected and with the Train page showing it.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"
#include "ui/bridge/convert.h"

#include <QEventLoop>
#include <QProcess>
#include <QTest>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <thread>

namespace {

using namespace weft;

constexpr int kPairs = 8;
constexpr int kWindowMs = 4000;
// Connecting, reading what came before, the plan and the pictures of samples come once and are over
// when the studio takes little of a processor.
constexpr int kLookMs = 500;
constexpr double kCalmMs = 50; // of processor time between two looks
constexpr int kMostLooks = 40;

struct Window {
    double begin = 0; // s, UTC epoch
    double end = 0;
    double used_ms = 0; // of a processor, by the studio
};

double now_s() {
    return SystemClock().epoch_s();
}

// Not as qWait, which looks a hundred times a second whether it is time.
void wait_ms(int ms) {
    QEventLoop loop;
    QTimer::singleShot(ms, &loop, &QEventLoop::quit);
    loop.exec();
}

double used_ms() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) * 1e-6;
}

void let_pages_settle() {
    for (int i = 0; i < kMostLooks; ++i) {
        const double before_ms = used_ms();
        wait_ms(kLookMs);
        if (used_ms() - before_ms < kCalmMs) {
            return;
        }
    }
    std::puts("  the studio does not come to rest");
}

Window wait_window() {
    let_pages_settle();
    Window window;
    const double before_ms = used_ms();
    window.begin = now_s();
    wait_ms(kWindowMs);
    window.end = now_s();
    window.used_ms = used_ms() - before_ms;
    return window;
}

// Steps of the run in that time, by its own clock.
double steps_per_s(const std::vector<train::Event>& events, const Window& window) {
    double first = 0;
    double last = 0;
    int steps = -1;
    for (const train::Event& event : events) {
        if (std::holds_alternative<train::StepEvent>(event.payload) && event.time >= window.begin &&
            event.time < window.end) {
            first = first == 0 ? event.time : first;
            last = event.time;
            ++steps;
        }
    }
    return steps > 0 ? steps / (last - first) : 0;
}

} // namespace

void bench_overhead() {
    bench::OpenStudio open;
    ui::Studio& studio = open.studio();
    const std::filesystem::path run = open.runs() / "measured";
    const std::filesystem::path other = open.runs() / "other";
    train::create_run_folder_at(other);
    QProcess weft;
    weft.setStandardOutputFile(QProcess::nullDevice());
    weft.start(WEFT_PROGRAM, {"train", WEFT_SOURCE_PRESETS "/fashion-mlp.json", "--run-dir",
                              ui::pathText(run), "--set", "training.length={\"minutes\": 10}",
                              "--set", "evaluation.every={\"minutes\": 10}", "--set",
                              "checkpoint.every={\"minutes\": 10}"});
    if (!QTest::qWaitFor([&] { return train::summarise_run(run).step > 100; }, 60000)) {
        std::puts("the run did not begin");
        return;
    }
    std::filesystem::copy_file(run / "config.json", other / "config.json");
    std::vector<Window> alone;
    std::vector<Window> shown;
    const auto measure = [&](const std::filesystem::path& folder, std::vector<Window>& windows) {
        studio.showRun(folder);
        windows.push_back(wait_window());
        return studio.isTraining() == (folder == run);
    };
    for (int i = 0; i < kPairs; ++i) {
        // In turns, so that what makes the machine slower and slower counts for neither.
        const bool first = i % 2 == 0;
        if (!measure(first ? other : run, first ? alone : shown) ||
            !measure(first ? run : other, first ? shown : alone)) {
            std::puts("the studio is not connected");
            return;
        }
    }
    weft.kill();
    weft.waitForFinished();
    const std::vector<train::Event> events = train::EventReader(run).read();
    std::vector<double> ratios;
    std::vector<double> shares;
    std::puts("steps/s alone, shown, ratio");
    for (int i = 0; i < kPairs; ++i) {
        const double a = steps_per_s(events, alone[static_cast<std::size_t>(i)]);
        const double b = steps_per_s(events, shown[static_cast<std::size_t>(i)]);
        ratios.push_back(b / a);
        shares.push_back(shown[static_cast<std::size_t>(i)].used_ms / kWindowMs /
                         std::thread::hardware_concurrency());
        std::printf("  %8.1f %8.1f   %.3f\n", a, b, b / a);
    }
    std::sort(ratios.begin(), ratios.end());
    std::sort(shares.begin(), shares.end());
    bench::print("23  slower while it is shown", 100 * (1 - ratios[kPairs / 2]), "%", 2);
    bench::print("23  of the processors, by the studio", 100 * shares[kPairs / 2], "%", 2);
}
