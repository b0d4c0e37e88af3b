// SPDX-License-Identifier: Apache-2.0
#include "core/advise/alternatives.h"

#include "core/base/error.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

namespace weft::advise {
namespace {

using plan::Alternative;

constexpr std::size_t kMostMicroBatches = 6; // of advise
constexpr std::ptrdiff_t kLargerMicroBatches = 2;

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

std::string text_of(const Changes& changes) {
    std::string out;
    for (const Change& change : changes) {
        out += (out.empty() ? "" : ", ") + change.text;
    }
    return out;
}

Change micro_batch(std::int64_t size) {
    return {"micro batch " + std::to_string(size),
            "training.micro_batch_size=" + std::to_string(size)};
}

/// From `largest` to 1, each about half of the one before; all divide the global batch.
std::vector<std::int64_t> micro_batches(std::int64_t global, std::int64_t largest) {
    std::vector<std::int64_t> sizes{largest};
    while (sizes.back() > 1) {
        std::int64_t size = sizes.back() / 2;
        while (global % size != 0) {
            --size;
        }
        sizes.push_back(size);
    }
    return sizes;
}

double time_or_most(const Alternative& alternative) {
    return alternative.predicted_step_ms.value_or(std::numeric_limits<double>::infinity());
}

/// What a changed run comes to.
struct Outcome {
    Alternative run;
    std::int64_t limit_bytes = 0;
    std::int64_t staging_bytes = 0;
};

const Change kWaits{"training waits for checkpoints", "checkpoint.async=false"};

bool waits(const Changes& changes) {
    return std::any_of(changes.begin(), changes.end(),
                       [](const Change& change) { return change.assignment == kWaits.assignment; });
}

/// Plans changed runs, each once. A change that gives no valid run, or one that no back end can
/// compute, is no alternative. Waiting for checkpoints needs no plan of its own: it takes no
/// staging.
class MeshTrial {
public:
    MeshTrial(const compile::RunConfig& config, const Planner& planner, std::stop_token stop)
        : config_(config), planner_(planner), stop_(std::move(stop)) {}

    std::optional<Outcome> outcome(const Changes& changes) {
        Changes planned = changes;
        std::erase_if(planned,
                      [](const Change& change) { return change.assignment == kWaits.assignment; });
        const auto [known, is_new] = outcomes_.try_emplace(assignments(planned));
        if (is_new) {
            known->second = plan(planned);
        }
        std::optional<Outcome> out = known->second;
        if (out) {
            out->run.change = text_of(changes);
            out->run.overrides = assignments(changes);
            out->run.peak_bytes -= waits(changes) ? out->staging_bytes : 0;
            out->run.fits = out->run.peak_bytes <= out->limit_bytes;
        }
        return out;
    }

private:
    std::optional<Outcome> plan(const Changes& changes) const {
        const auto changed = compile::with_overrides(config_, assignments(changes));
        if (!changed) {
            return std::nullopt;
        }
        try {
            const plan::ExecutionPlan plan = planner_(*changed);
            return Outcome{alternative_of({}, {}, plan),
                           plan.limit_bytes.value_or(std::numeric_limits<std::int64_t>::max()),
                           plan.device == "cpu" ? plan.host.staging_bytes : 0};
        } catch (const Error&) {
            if (stop_.stop_requested()) {
                throw;
            }
            return std::nullopt;
        }
    }

    const compile::RunConfig& config_;
    const Planner& planner_;
    std::stop_token stop_;
    std::map<std::vector<std::string>, std::optional<Outcome>> outcomes_;
};

/// The settings that a fix may change beside the micro batch, fewest changes first.
std::vector<Changes> fix_candidates(const compile::RunConfig& config, bool host_counts) {
    const Change bf16{"bf16", "training.precision=bf16"};
    const Change blocks{"recompute blocks", "training.recompute=blocks"};
    const Change automatic{"recompute auto", "training.recompute=auto"};
    const bool recomputes = config.recompute != "none";
    std::vector<Changes> numbers{{}};
    if (config.compute_dtype() == ir::DType::f32) {
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
                both.push_back(kWaits);
                out.push_back(both);
            }
        }
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const Changes& a, const Changes& b) { return a.size() < b.size(); });
    return out;
}

/// The largest micro batch with which the changed run fits; memory grows with it.
std::optional<Alternative> largest_that_fits(MeshTrial& trial, const Changes& changes,
                                             const std::vector<std::int64_t>& sizes) {
    const auto at = [&](std::size_t i) {
        Changes with = changes;
        if (i > 0) {
            with.push_back(micro_batch(sizes[i]));
        }
        const auto found = with.empty() ? std::nullopt : trial.outcome(with);
        return found && found->run.fits ? std::optional(found->run) : std::nullopt;
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

/// Takes out what only adds to another one that fits already and is as fast.
void drop_needless(std::vector<Alternative>& all) {
    const auto adds_to = [](const Alternative& larger, const Alternative& smaller) {
        return larger.overrides.size() > smaller.overrides.size() &&
               time_or_most(larger) >= time_or_most(smaller) &&
               std::all_of(smaller.overrides.begin(), smaller.overrides.end(),
                           [&](const std::string& own) {
                               return std::find(larger.overrides.begin(), larger.overrides.end(),
                                                own) != larger.overrides.end();
                           });
    };
    const std::vector<Alternative> before = all;
    std::erase_if(all, [&](const Alternative& own) {
        return std::any_of(before.begin(), before.end(),
                           [&](const Alternative& other) { return adds_to(own, other); });
    });
}

/// Of `advise`: up to twice doubled and four times halved from what the run has.
std::vector<std::int64_t> advised_micro_batches(const compile::RunConfig& config) {
    const compile::BatchPlan batch = compile::plan_batch(config);
    auto sizes = micro_batches(batch.global_batch_size, batch.global_batch_size);
    const auto own = std::find_if(sizes.begin(), sizes.end(), [&](std::int64_t size) {
        return size <= batch.micro_batch_size;
    });
    const auto larger = std::min<std::ptrdiff_t>(kLargerMicroBatches, own - sizes.begin());
    sizes.erase(sizes.begin(), own - larger);
    sizes.resize(std::min(sizes.size(), kMostMicroBatches));
    if (std::find(sizes.begin(), sizes.end(), batch.micro_batch_size) == sizes.end()) {
        sizes.push_back(batch.micro_batch_size); // divides the batch, but by no chain of halves
    }
    return sizes;
}

} // namespace

Alternative alternative_of(std::string change, std::vector<std::string> overrides,
                           const plan::ExecutionPlan& plan) {
    Alternative out;
    out.change = std::move(change);
    out.overrides = std::move(overrides);
    out.peak_bytes = plan.memory_bytes();
    for (const plan::PlannedProgram& program : plan.programs) {
        if (program.name == "train_step") {
            const auto bytes = plan::bytes_by_category(plan, program);
            out.activation_bytes = std::max(
                out.activation_bytes, bytes[static_cast<std::size_t>(plan::Category::activations)]);
        }
    }
    out.predicted_step_ms = plan.predicted_step_ms;
    out.fits = plan.fits();
    out.communication_ms = plan.communication_ms;
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

std::vector<Alternative> fixes(const compile::RunConfig& config, const Planner& planner,
                               std::size_t most, std::stop_token stop) {
    const plan::ExecutionPlan now = planner(config);
    if (now.fits() || now.state_bytes > *now.limit_bytes) {
        return {};
    }
    MeshTrial trial(config, planner, std::move(stop));
    std::vector<Alternative> out;
    const compile::BatchPlan batch = compile::plan_batch(config);
    const auto sizes = micro_batches(batch.global_batch_size, batch.micro_batch_size);
    for (const Changes& changes : fix_candidates(config, now.device == "cpu")) {
        if (auto found = largest_that_fits(trial, changes, sizes)) {
            out.push_back(std::move(*found));
        }
    }
    drop_needless(out);
    std::stable_sort(out.begin(), out.end(), [](const Alternative& a, const Alternative& b) {
        return std::tuple(time_or_most(a), a.overrides.size()) <
               std::tuple(time_or_most(b), b.overrides.size());
    });
    out.resize(std::min(most, out.size()));
    return out;
}

std::vector<Alternative> alternatives(const compile::RunConfig& config, const Planner& planner,
                                      std::stop_token stop) {
    MeshTrial trial(config, planner, std::move(stop));
    const auto sizes = advised_micro_batches(config);
    std::vector<Alternative> out;
    for (const char* precision : {"bf16", "f32"}) {
        for (const char* recompute : {"none", "blocks"}) {
            for (const std::int64_t size : sizes) {
                const Changes changes{{precision, std::string("training.precision=") + precision},
                                      {std::string("recompute ") + recompute,
                                       std::string("training.recompute=") + recompute},
                                      micro_batch(size)};
                if (auto found = trial.outcome(changes)) {
                    out.push_back(std::move(found->run));
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

} // namespace weft::advise
