// SPDX-License-Identifier: Apache-2.0
// Where the time of recorded steps went: means over steps and devices, in microseconds of one step.
// Values only: any thread.
#pragma once

#include "core/profile/recording.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::profile {

enum class Grouping : std::uint8_t { op, layer, kernel, phase };
std::optional<Grouping> grouping_of(std::string_view name); // "op", "layer", "kernel", "phase"

/// The name of the row that a call is in.
std::string group_name(const Call& call, Grouping grouping);

/// Calls of one group in one step of one device.
struct Row {
    std::string name; // "matmul backward", "blocks.0.mlp.up", "onednn matmul", "forward"
    double calls = 0;
    double us = 0;        // measured
    double waited_us = 0; // of these, in exchanges, for other devices
    double predicted_us = 0;
    double best_us = 0; // 0: no ceilings are known, or these are exchanges
    double flops = 0;
    double bytes = 0;
    std::string bound{}; // of the calls that take most of it

    /// Measured over best; 0 where no best time is known.
    double times_best() const { return best_us > 0 ? us / best_us : 0; }
};

/// A step of one device. Its parts sum up to `wall_us`, unless a device computes and exchanges at
/// the same time.
struct StepParts {
    double wall_us = 0;
    double loader_us = 0;   // waiting for the batch
    double compute_us = 0;  // in kernels
    double exchange_us = 0; // in exchanges, less waiting
    double waited_us = 0;   // in exchanges, for other devices
    double between_us = 0;  // between calls: arguments, launching, loops
    double host_us = 0;     // after the devices: numbers, events, records
};

struct TimeTable {
    StepParts mean;                 // over devices
    std::vector<StepParts> devices; // each one's
    std::vector<Row> rows;          // longest first
};

TimeTable time_table(const Recording& recording, Grouping grouping);

/// A row of two recordings; one that only one of them has is 0 in the other.
struct ChangedRow {
    std::string name;
    double before_us = 0;
    double after_us = 0;
};
/// Largest change first.
std::vector<ChangedRow> compare(const TimeTable& before, const TimeTable& after);

} // namespace weft::profile
