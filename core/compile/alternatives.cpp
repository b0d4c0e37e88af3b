// SPDX-License-Identifier: Apache-2.0
#include "core/compile/alternatives.h"

#include "core/base/error.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

namespace weft::compile {
namespace {

using plan::Alternative;

constexpr std::size_t kMostMicroBatches = 6; // of advise

struct Change {
    std::string text;
    std::string assignment;
};
using Changes = std::vector<Change>;

std::vector<std::string> assignments(const Changes& changes) {
    std::vector<std::string> out;
    for (const Change& change : changes) {
        out.push_back(change.assignment);
    }
    return out;
}

Alternative changed_run(const Changes& changes, const plan::ExecutionPlan& plan) {
    std::string text;
    for (const Change& change : changes) {
        text += (text.empty() ? "" : ", ") + change.text;
    }
    return alternative_of(std::move(text), assignments(changes), plan);
}

Change micro_batch(std::int64_t size) {
    return {"micro batch " + std::to_string(size),
            "training.micro_batch_size=" + std::to_string(size)};
}

/// The present micro batch, then about half of the one before, down to 1; each divides the global
/// batch.
std::vector<std::int64_t> micro_batches(const RunConfig& config) {
    const BatchPlan batch = plan_batch(config);
    std::vector<std::int64_t> sizes{batch.micro_batch_size};
    while (sizes.back() > 1) {
        std::int64_t size = sizes.back() / 2;
        while (batch.global_batch_size % size != 0) {
            --size;
        }
        sizes.push_back(size);
    }
    return sizes;
}

double time_or_most(const Alternative& alternative) {
    return alternative.predicted_step_ms.value_or(std::numeric_limits<double>::infinity());
}

/// Plans changed runs. A change that gives no valid run, or one that no back end can compute or no
/// recompute can squeeze in, is no alternative.
class Trial {
public:
    Trial(const RunConfig& config, const Planner& planner, std::stop_token stop)
        : config_(config), planner_(planner), stop_(std::move(stop)) {}

    std::optional<plan::ExecutionPlan> plan(const Changes& changes) const {
        const auto changed = with_overrides(config_, assignments(changes));
        if (!changed) {
            return std::nullopt;
        }
        try {
            return planner_(*changed);
        } catch (const Error&) {
            if (stop_.stop_requested()) {
                throw;
            }
            return std::nullopt;
        }
    }

private:
    const RunConfig& config_;
    const Planner& planner_;
    std::stop_token stop_;
};

/// The settings that a fix may change beside the micro batch, fewest changes first.
std::vector<Changes> fix_candidates(const RunConfig& config, bool host_counts) {
    const Change bf16{"bf16", "training.precision=bf16"};
    const Change blocks{"recompute blocks", "training.recompute=blocks"};
    const Change automatic{"recompute auto", "training.recompute=auto"};
    const Change waits{"training waits for checkpoints", "checkpoint.async=false"};
    const bool recomputes = config.recompute != "none";
    std::vector<Changes> numbers{{}};
    if (config.precision == "f32") {
        numbers.push_back({bf16});
    }
    std::vector<Changes> out;
    for (const Changes& number : numbers) {
        for (const Changes& recompute : recomputes
                                            ? std::vector<Changes>{{}}
                                            : std::vector<Changes>{{}, {automatic}, {blocks}}) {
            Changes both = number;
            both.insert(both.end(), recompute.begin(), recompute.end());
            out.push_back(both);
            if (config.checkpoint_async && host_counts) {
                both.push_back(waits);
                out.push_back(both);
            }
        }
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const Changes& a, const Changes& b) { return a.size() < b.size(); });
    return out;
}

/// The largest micro batch with which the changed run fits; memory grows with it.
std::optional<Alternative> largest_that_fits(const Trial& trial, const Changes& changes,
                                             const std::vector<std::int64_t>& sizes) {
    const auto at = [&](std::size_t i) {
        Changes with = changes;
        if (i > 0) {
            with.push_back(micro_batch(sizes[i]));
        }
        const auto plan = with.empty() ? std::nullopt : trial.plan(with);
        return plan && plan->fits() ? std::optional(changed_run(with, *plan)) : std::nullopt;
    };
    std::size_t high = sizes.size() - 1; // the smallest
    std::optional<Alternative> best = at(high);
    for (std::size_t low = 0; best && low < high;) {
        const std::size_t middle = low + (high - low) / 2;
        if (auto found = at(middle)) {
            best = std::move(found);
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return best;
}

} // namespace

Alternative alternative_of(std::string change, std::vector<std::string> overrides,
                           const plan::ExecutionPlan& plan) {
    Alternative out;
    out.change = std::move(change);
    out.overrides = std::move(overrides);
    out.peak_bytes = plan.device_bytes();
    out.activation_bytes = plan::bytes_by_category(
        plan, "train_step")[static_cast<std::size_t>(plan::Category::activations)];
    out.predicted_step_ms = plan.predicted_step_ms;
    out.fits = plan.fits();
    return out;
}

void mark_front(std::vector<Alternative>& all) {
    for (Alternative& own : all) {
        own.on_front = std::none_of(all.begin(), all.end(), [&](const Alternative& other) {
            const bool as_good =
                other.peak_bytes <= own.peak_bytes && time_or_most(other) <= time_or_most(own);
            const bool better =
                other.peak_bytes < own.peak_bytes || time_or_most(other) < time_or_most(own);
            return as_good && better;
        });
    }
}

std::optional<RunConfig> with_overrides(const RunConfig& config,
                                        const std::vector<std::string>& overrides) {
    config::Json document = config.document;
    for (const std::string& assignment : overrides) {
        if (!config::apply_override(document, assignment).empty()) {
            return std::nullopt;
        }
    }
    CheckedRun checked = read_run_config(document, config.base_dir);
    return checked.ok() ? std::optional(std::move(checked.config)) : std::nullopt;
}

std::vector<Alternative> fixes(const RunConfig& config, const Planner& planner, std::size_t most,
                               std::stop_token stop) {
    const Trial trial(config, planner, std::move(stop));
    const auto now = trial.plan({});
    if (now && (now->fits() || now->state_bytes > *now->limit_bytes)) {
        return {}; // it fits, or no batch is small enough beside the state
    }
    const bool host_counts = !now || now->device == "cpu";
    const auto sizes = micro_batches(config);
    std::vector<Alternative> out;
    for (const Changes& changes : fix_candidates(config, host_counts)) {
        if (auto found = largest_that_fits(trial, changes, sizes)) {
            out.push_back(std::move(*found));
        }
    }
    std::stable_sort(out.begin(), out.end(), [](const Alternative& a, const Alternative& b) {
        return std::tuple(time_or_most(a), a.overrides.size()) <
               std::tuple(time_or_most(b), b.overrides.size());
    });
    out.resize(std::min(most, out.size()));
    return out;
}

std::vector<Alternative> advise(const RunConfig& config, const Planner& planner,
                                std::stop_token stop) {
    const Trial trial(config, planner, std::move(stop));
    auto sizes = micro_batches(config);
    sizes.resize(std::min(sizes.size(), kMostMicroBatches));
    std::vector<Alternative> out;
    for (const char* precision : {"bf16", "f32"}) {
        for (const char* recompute : {"none", "blocks"}) {
            for (const std::int64_t size : sizes) {
                const Changes changes{{precision, std::string("training.precision=") + precision},
                                      {std::string("recompute ") + recompute,
                                       std::string("training.recompute=") + recompute},
                                      micro_batch(size)};
                if (const auto plan = trial.plan(changes)) {
                    out.push_back(changed_run(changes, *plan));
                }
            }
        }
    }
    mark_front(out);
    std::stable_sort(out.begin(), out.end(), [](const Alternative& a, const Alternative& b) {
        return a.peak_bytes < b.peak_bytes;
    });
    return out;
}

} // namespace weft::compile
