// SPDX-License-Identifier: Apache-2.0
#include "core/train/measure/busy_core.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/train/engine.h"
#include "core/train/measure/timed_session.h"

#include <algorithm>
#include <thread>

namespace weft::train {
namespace {

constexpr int kTurns = 2;
constexpr int kCountedTurns = 40'000'000; // of a thread of the limit: some tens of milliseconds

/// Keeps one core busy while it lives, as a program does that computes.
class BusyCore {
    std::jthread thread_{[](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
        }
    }};
};

/// A fixed amount of work that needs neither memory nor anybody else.
void count() {
    volatile int turns = 0;
    while (turns < kCountedTurns) {
        turns = turns + 1;
    }
}

/// Mean time of `threads` threads that count, until the last is through.
double counting_s(int threads, const BusyCoreOptions& options) {
    const SystemClock clock;
    const double start_s = clock.steady_s();
    double passed_s = 0;
    int rounds = 0;
    do {
        std::vector<std::jthread> team;
        for (int i = 0; i < threads; ++i) {
            team.emplace_back(count);
        }
        team.clear(); // joins
        ++rounds;
        passed_s = clock.steady_s() - start_s;
    } while (passed_s < options.seconds_each && !options.stop.stop_requested());
    return passed_s / rounds;
}

/// Alone and busy in turns, so that what else this machine does falls on both. `measure_s` gives
/// means: a step of milliseconds may well pass between two interruptions.
BusyTiming in_turns(const std::string& name, const std::function<double()>& measure_s) {
    BusyTiming out{name};
    const auto keep_best = [](double seconds, double& ms) {
        ms = ms == 0 ? seconds * 1e3 : std::min(ms, seconds * 1e3);
    };
    for (int turn = 0; turn < kTurns; ++turn) {
        keep_best(measure_s(), out.alone_ms);
        const BusyCore busy;
        keep_best(measure_s(), out.busy_ms);
    }
    return out;
}

} // namespace

BusyCoreReport measure_beside_busy_core(std::span<const compile::RunConfig> configs,
                                        const BusyCoreOptions& options) {
    const auto say = [&](const std::string& what) {
        if (options.stop.stop_requested()) {
            throw Error(ErrorKind::runtime, "bench load", "the measurement was stopped");
        }
        if (options.progress) {
            options.progress(what);
        }
    };
    BusyCoreReport out;
    say("threads that do not wait for each other");
    const int threads = thread_count(options.threads);
    out.limit = in_turns("independent threads", [&] { return counting_s(threads, options); });
    for (const compile::RunConfig& config : configs) {
        say("training steps of " + config.name);
        out.steps.push_back(in_turns(config.name, [&] {
            return time_session(config, {.folder = options.folder,
                                         .threads = options.threads,
                                         .seconds = options.seconds_each,
                                         .stop = options.stop})
                .mean_s;
        }));
    }
    return out;
}

} // namespace weft::train
