// SPDX-License-Identifier: Apache-2.0
// What a training step takes while another program keeps one core busy: desktops are never quiet.
// What `weft bench load` runs. Blocks; uses the whole OpenMP team and one thread more.
#pragma once

#include "core/compile/config/run_config.h"

#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace weft::train {

struct BusyCoreOptions {
    int threads = 0;              // 0: all that this process may use
    double seconds_each = 3;      // of the limit and of each configuration, per load and turn
    std::filesystem::path folder; // for the runs; must be absent or empty, and is removed again
    std::stop_token stop;
    std::function<void(const std::string&)> progress; // what begins now
};

/// The same work alone and beside a busy core, the better of two turns each.
struct BusyTiming {
    std::string name;
    double alone_ms = 0;
    double busy_ms = 0;
    double ratio() const { return busy_ms / alone_ms; }
};

struct BusyCoreReport {
    BusyTiming limit; // as many threads with as much to do each, that wait for each other only once
    std::vector<BusyTiming> steps;
};

/// Measures alone and busy in turns. Throws weft::Error; stops with weft::Error{runtime}.
BusyCoreReport measure_beside_busy_core(std::span<const compile::RunConfig> configs,
                                        const BusyCoreOptions& options);

} // namespace weft::train
