// SPDX-License-Identifier: Apache-2.0
#include "core/advise/alternatives.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace weft::advise {
namespace {

constexpr std::int64_t kAutoSteps = 6; // of auto, between none and blocks

class Curve {
public:
    Curve(const compile::RunConfig& config, const Planner& planner, const std::stop_token& stop)
        : config_(config), planner_(planner), stop_(stop) {}

    std::vector<plan::Alternative> run() {
        add("recompute none", {"training.recompute=none"});
        add("recompute blocks", {"training.recompute=blocks"});
        const plan::Alternative blocks = points_.back();
        points_.pop_back();
        const std::int64_t most = points_.back().peak_bytes;
        const std::int64_t least = blocks.peak_bytes;
        for (std::int64_t step = kAutoSteps; step > 0 && most > least; --step) {
            const std::int64_t budget = least + (most - least) * step / (kAutoSteps + 1);
            add("recompute auto, budget " + format_bytes(budget),
                {"training.recompute=auto", "training.memory_budget=" + std::to_string(budget)});
            // A budget may ask for no more than the one before, or for all that there is.
            const std::int64_t found = points_.back().peak_bytes;
            if (found >= points_[points_.size() - 2].peak_bytes || found <= least) {
                points_.pop_back();
            }
        }
        if (least < most) {
            points_.push_back(blocks);
        }
        mark_front(points_);
        if (!points_.front().predicted_step_ms) { // less memory costs more work at each point
            for (plan::Alternative& point : points_) {
                point.on_front = true;
            }
        }
        return std::move(points_);
    }

private:
    void add(std::string change, std::vector<std::string> overrides) {
        if (stop_.stop_requested()) {
            throw Error(ErrorKind::runtime, "recompute curve", "planning was stopped");
        }
        const auto changed = compile::with_overrides(config_, overrides);
        WEFT_CHECK(changed.has_value(), "recompute changes no other setting");
        const plan::ExecutionPlan plan = planner_(*changed);
        limit_bytes_ = points_.empty() ? plan.limit_bytes : limit_bytes_;
        points_.push_back(alternative_of(std::move(change), std::move(overrides), plan));
        points_.back().fits = !limit_bytes_ || points_.back().peak_bytes <= *limit_bytes_;
    }

    const compile::RunConfig& config_;
    const Planner& planner_;
    const std::stop_token& stop_;
    std::optional<std::int64_t> limit_bytes_; // without the steps' own budgets
    std::vector<plan::Alternative> points_;
};

} // namespace

std::vector<plan::Alternative> recompute_curve(const compile::RunConfig& config,
                                               const Planner& planner, std::stop_token stop) {
    return Curve(config, planner, stop).run();
}

} // namespace weft::advise
