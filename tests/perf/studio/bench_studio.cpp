// SPDX-License-Identifier: GPL-3.0-or-later
// bench_studio [SUITE...]: how quickly the studio answers, against the targets of UX.md 5; without
// arguments every suite, one after the other. `bench_studio list` names them. Run it on a quiet
// machine; without a display it takes the offscreen platform.
#include "core/base/allocator.h"
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/suites.h"
#include "tests/perf/studio/timed_application.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

constexpr std::chrono::minutes kLongestSuite(6);

struct Suite {
    const char* name;
    const char* what;
    void (*run)();
    bool usual = true; // part of a run of all
};

constexpr Suite kSuites[] = {
    {"start", "from the program's start to its window", bench_start},
    {"window", "what `start` starts: milliseconds and MiB", bench_window, false},
    {"pages", "clicks, keys and pages", bench_pages},
    {"live", "the demo, pauses and steps while training uses every core", bench_live},
    {"open", "a run of a million steps brought on screen", bench_open},
    {"charts", "curves of a million points, overlays, appends", bench_charts},
    {"curves", "many runs over each other on the Train page", bench_curves},
    {"mesh", "Mesh & Plan: scrubbing, edits, large drawings", bench_mesh},
    {"edits", "of these only the edits", bench_edits, false},
    {"devices", "and 8 to 8,192 devices looked at", bench_devices, false},
    {"schedules", "and pipelines of up to 2,048 microbatches", bench_schedules, false},
    {"graph", "layout of a model's graph", bench_graph},
    {"saves", "checkpoints: written while training, resumed, left by a crash", bench_saves},
    {"runs", "many runs, many checkpoints, a million scalars", bench_runs},
    {"wall", "500 runs in 20 charts: panned, zoomed, pointed at", bench_wall},
    {"logs", "50,000 lines a second; a filter on a million", bench_logs},
    {"overhead", "training with and without a window that watches", bench_overhead},
    {"export", "charts as files", bench_export},
    {"contrast", "colours of both themes", bench_contrast},
};

const Suite* find(const char* name) {
    for (const Suite& suite : kSuites) {
        if (std::strcmp(suite.name, name) == 0) {
            return &suite;
        }
    }
    return nullptr;
}

/// Ends the program when a suite does not, for one in an event loop of a dialog or in a wait
/// without a limit never would; says what it was waiting for.
class Watchdog {
public:
    explicit Watchdog(const Suite& suite)
        : thread_([this, name = suite.name](const std::stop_token& stop) {
              std::unique_lock lock(mutex_);
              wake_.wait_for(lock, stop, kLongestSuite, [] { return false; });
              if (!stop.stop_requested()) {
                  const std::string awaited = bench::awaited();
                  std::printf("  %s has not ended: it %s%s\n", name,
                              awaited.empty() ? "is in an event loop of its own or stuck"
                                              : "waits for ",
                              awaited.c_str());
                  std::fflush(stdout);
                  _exit(1);
              }
          }) {}

private:
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread thread_;
};

void run(const Suite& suite) {
    std::printf("\n== %s: %s\n", suite.name, suite.what);
    std::fflush(stdout);
    const Watchdog watchdog(suite);
    suite.run();
}

} // namespace

int main(int argc, char** argv) {
    weft::keep_freed_memory(); // as weft-studio
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM") && !qEnvironmentVariableIsSet("DISPLAY")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    bench::TimedApplication application(argc, argv);
    const std::span<char*> names(argv + 1, argv + argc);
    for (const char* name : names) {
        if (find(name) == nullptr) {
            for (const Suite& suite : kSuites) {
                std::printf("%-10s %s\n", suite.name, suite.what);
            }
            return std::strcmp(name, "list") == 0 ? 0 : 2;
        }
    }
    for (const char* name : names) {
        run(*find(name));
    }
    for (const Suite& suite : kSuites) {
        if (names.empty() && suite.usual) {
            run(suite);
        }
    }
    return 0;
}
