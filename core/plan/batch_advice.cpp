// SPDX-License-Identifier: Apache-2.0
// What the figures of a plan's batch advice say, in words.
#include "core/base/text.h"
#include "core/plan/sections.h"

namespace weft::plan {

std::vector<std::string> batch_advice_lines(const ExecutionPlan& plan) {
    if (!plan.batch_advice) {
        return {};
    }
    const BatchAdvice& advice = *plan.batch_advice;
    std::vector<std::string> out;
    const auto samples = [](std::int64_t count) {
        return format_thousands(count) + (count == 1 ? " sample" : " samples");
    };
    if (advice.balanced_samples > advice.samples) {
        out.push_back("each device takes " + samples(advice.samples) +
                      " at a time, and its products wait for memory; from " +
                      samples(advice.balanced_samples) + " on they compute as long as they read");
    }
    if (advice.communication_share > 0.5) {
        const std::string share = "exchanges take " + fixed(advice.communication_share * 100, 0) +
                                  " % of the step, more than computing; ";
        out.push_back(share +
                      (advice.balanced_batch_size
                           ? "with global_batch_size " +
                                 format_thousands(*advice.balanced_batch_size) +
                                 " in as many microsteps both take as long"
                           : "a larger batch does not help, because what is exchanged grows with "
                             "it: use fewer devices along the axes that split layers"));
    }
    return out;
}

} // namespace weft::plan
