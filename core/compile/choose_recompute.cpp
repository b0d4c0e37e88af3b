// SPDX-License-Identifier: Apache-2.0
#include "core/compile/choose_recompute.h"

#include "core/base/text.h"

namespace weft::compile {
namespace {

using passes::Recompute;

struct ThresholdTrial {
    passes::RecomputeOptions options;
    std::int64_t bytes = 0; // arena and host
};

class ThresholdSearch {
public:
    ThresholdSearch(
        std::span<const double> thresholds, const MemoryBudget& budget,
        const std::function<std::int64_t(const passes::RecomputeOptions&)>& needed_bytes)
        : thresholds_(thresholds), budget_(budget), needed_bytes_(needed_bytes) {}

    RecomputeChoice run() {
        const ThresholdTrial none = plan({Recompute::none, 0});
        if (fits(none) || thresholds_.size() < 2) {
            return {none.options,
                    "Recompute auto: nothing is computed again, for " + format_bytes(none.bytes) +
                        (fits(none) ? " fit into " : " are the least for ") + limit() + "."};
        }
        const ThresholdTrial most = plan({Recompute::selective, thresholds_.back()});
        const ThresholdTrial chosen = fits(most) ? least_that_fits(most) : most;
        return {chosen.options,
                "Recompute auto: " + format_bytes(chosen.bytes) +
                    (fits(chosen) ? " fit into " : " are the least for ") + limit() +
                    "; with everything kept it were " + format_bytes(none.bytes) +
                    ", with nothing kept within blocks " + format_bytes(most.bytes) + "."};
    }

private:
    ThresholdTrial plan(passes::RecomputeOptions options) const {
        return {options, needed_bytes_(options)};
    }

    bool fits(const ThresholdTrial& trial) const { return trial.bytes <= budget_.bytes; }

    std::string limit() const {
        return (budget_.given ? "the budget of " : "this machine's ") + format_bytes(budget_.bytes);
    }

    /// Between the first threshold, which keeps everything, and the last, which fits.
    ThresholdTrial least_that_fits(const ThresholdTrial& most) const {
        ThresholdTrial best = most;
        std::size_t low = 0;
        std::size_t high = thresholds_.size() - 1;
        while (high - low > 1) {
            const std::size_t middle = low + (high - low) / 2;
            const ThresholdTrial trial = plan({Recompute::selective, thresholds_[middle]});
            if (fits(trial)) {
                best = trial;
                high = middle;
            } else {
                low = middle;
            }
        }
        return best;
    }

    std::span<const double> thresholds_;
    const MemoryBudget& budget_;
    const std::function<std::int64_t(const passes::RecomputeOptions&)>& needed_bytes_;
};

} // namespace

RecomputeChoice
choose_recompute(std::span<const double> thresholds, const MemoryBudget& budget,
                 const std::function<std::int64_t(const passes::RecomputeOptions&)>& needed_bytes) {
    return ThresholdSearch(thresholds, budget, needed_bytes).run();
}

} // namespace weft::compile
