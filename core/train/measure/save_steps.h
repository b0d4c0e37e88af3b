// SPDX-License-Identifier: Apache-2.0
// What saving in the background costs the steps beside it: how long steps took before a save, and
// while it was being written. The engine thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace weft::train {

/// Milliseconds of steps around a save; nothing where there was no step to measure.
struct SaveNeighbours {
    std::optional<double> before_ms;  // median of the newest quiet steps before it
    std::optional<double> during_ms;  // median of the steps while it was being written
    std::optional<double> longest_ms; // the longest of these
};

class SaveSteps {
public:
    /// So many quiet steps, with no write under way, are remembered.
    static constexpr std::size_t kQuietSteps = 20;

    /// A step took so long, without waiting for data.
    void completed(double step_ms);
    void save_begun(std::int64_t step);
    /// The save of that step is on disk, or failed. Of a step that never began: nothing.
    SaveNeighbours save_ended(std::int64_t step);

private:
    struct Save {
        std::int64_t step = 0;
        std::optional<double> before_ms;
        std::vector<double> during_ms;
    };
    std::deque<double> quiet_ms_;
    std::vector<Save> saves_; // under way
};

} // namespace weft::train
