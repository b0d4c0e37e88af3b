// SPDX-License-Identifier: Apache-2.0
// What a schedule makes of even stages: how long a step is and what a stage holds, for the search
// for a mesh.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace weft::advise {

struct Rhythm {
    double length = 1;    // of a step, in units of a stage's work on one microbatch
    double in_flight = 1; // most microbatches whose activations a stage holds
};

/// Simulates each pipeline once. One thread at a time.
class Rhythms {
public:
    /// The schedules that are tried, by their names in mesh.pipeline.schedule. One that does weight
    /// gradients late holds what was computed again until then: it goes without recompute.
    static std::vector<std::string> schedules(bool recomputes);

    /// A backward takes two forwards, half of it for weights; a recomputing one three. `send`: of a
    /// message between stages, in the same units. One stage is no pipeline.
    Rhythm of(const std::string& schedule, std::int64_t stages, std::int64_t microbatches,
              bool recomputes, double send);

private:
    std::map<std::tuple<std::string, std::int64_t, std::int64_t, bool>, Rhythm> known_;
};

} // namespace weft::advise
