// SPDX-License-Identifier: Apache-2.0
#include "core/advise/pipeline_rhythm.h"

#include "core/pipeline/schedule_list.h"
#include "core/pipeline/simulate.h"

#include <algorithm>

namespace weft::advise {
namespace {

constexpr const char* kLateWeights = "zero_bubble_h1";
// Beside the activations of a microbatch, the gradients that its weight gradients still wait with.
constexpr double kHeldGradients = 1.0 / 3;

} // namespace

std::vector<std::string> Rhythms::schedules(bool recomputes) {
    return recomputes ? std::vector<std::string>{"1f1b"}
                      : std::vector<std::string>{"1f1b", kLateWeights};
}

Rhythm Rhythms::of(const std::string& schedule, std::int64_t stages, std::int64_t microbatches,
                   bool recomputes, double send) {
    if (stages == 1) {
        return {static_cast<double>(microbatches), 1};
    }
    const auto [found, is_new] =
        known_.try_emplace({schedule, stages, microbatches, recomputes}, Rhythm{});
    if (is_new) {
        const pipeline::Schedule made = pipeline::make_schedule(schedule, static_cast<int>(stages),
                                                                static_cast<int>(microbatches));
        const double forward = recomputes ? 1.0 / 4 : 1.0 / 3;
        const pipeline::Timeline timeline = pipeline::simulate(
            made, pipeline::Costs::even(made, {forward, 1 - 2 * forward, forward}));
        // The last stage does its weight gradients latest.
        const double late =
            schedule == kLateWeights ? static_cast<double>(std::min(stages, microbatches) - 1) : 0;
        found->second = {timeline.makespan_ms, timeline.in_flight.front() + kHeldGradients * late};
    }
    // A microbatch waits for a message at each stage on its way there and back.
    Rhythm out = found->second;
    out.length += 2 * static_cast<double>(stages - 1) * send;
    return out;
}

} // namespace weft::advise
