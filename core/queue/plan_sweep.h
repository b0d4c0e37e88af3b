// SPDX-License-Identifier: Apache-2.0
// From what a person asks for to a sweep with checked trials; and how entries are made. Nothing is
// queued here but by the two functions that say so.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/queue/book.h"
#include "core/queue/space.h"

namespace weft::queue {

struct SweepRequest {
    std::string name; // empty: that of the configuration, and a number if there is one already
    Method method = Method::random;
    std::vector<std::string> vary;
    std::optional<std::int64_t> trials; // none: of a grid all; else 12
    std::string metric;                 // empty: checkpoint.metric of the configuration
    std::string mode;                   // "min", "max"; empty: by the metric
    std::uint64_t seed = 0;
    int eta = 3;
    std::optional<std::int64_t> min_steps; // none: so that the last rung has about one trial
    std::optional<std::int64_t> max_steps; // none: the configuration's length
};

/// The configuration with "--set" assignments applied.
using ReadRun = std::function<compile::CheckedRun(const std::vector<std::string>&)>;
/// Steps of a configuration's length; 0: it is measured in minutes. May open its data.
using CountSteps = std::function<std::int64_t(const compile::RunConfig&)>;

struct PlannedTrial {
    Settings settings;
    compile::RunConfig config;
};

struct PlannedSweep {
    Sweep sweep;
    std::vector<PlannedTrial> trials;
    std::vector<std::string> notes;  // what was set beside what was asked for
    config::Diagnostics diagnostics; // of the first trial that has an error, else warnings
    bool ok() const { return !config::has_errors(diagnostics); }
};

/// Every trial's configuration, checked. What is wrong with a configuration is a diagnostic; throws
/// weft::Error{usage} for what is wrong with the request.
PlannedSweep plan_sweep(const SweepRequest& request, const ReadRun& read, const CountSteps& count);

/// Freezes a configuration for an entry and puts it into the book, which change_book() has.
Entry& add_run(Book& book, const Path& folder, const compile::RunConfig& config, double now_s);
/// Puts a sweep and its trials into the queue, under a name that no other has. Returns it.
std::string add_sweep(const Path& folder, const PlannedSweep& planned, double now_s);

} // namespace weft::queue
