// SPDX-License-Identifier: Apache-2.0
#include "core/advise/block_model.h"

#include "core/base/error.h"
#include "core/compile/mesh/mesh_config.h"

#include <algorithm>
#include <array>
#include <optional>

namespace weft::advise {
namespace {

constexpr std::int64_t kFewLayers = 2;
constexpr std::int64_t kMoreLayers = 4;
// Few enough samples leave the peak to what does not grow with them, and one is placed otherwise.
constexpr std::int64_t kFewSamples = 4;
constexpr std::int64_t kMoreSamples = 8;
constexpr std::int64_t kModelledMicrosteps = 2; // so that gradients are summed up, as in the run

/// Figures of one plan, in the order of Figure.
enum Figure : std::size_t {
    kMicrostep,
    kExchange,
    kScratch,
    kUpdate,
    kParameterBytes,
    kTensors,
    kOptimizer,
    kOther,
    kUpdateScratch,
    kCount,
    kGatherCalls,
    kGatherBytes,
    kScatterCalls,
    kScatterBytes,
    kFigures
};
using Figures = std::array<double, kFigures>;

void add_exchange(const plan::Collective& one, double times, Figures& out) {
    if (std::find(one.axes.begin(), one.axes.end(), "data") == one.axes.end()) {
        out[kExchange] += times * one.predicted_ms;
        return;
    }
    const bool gathers = one.kind == "all_gather";
    out[gathers ? kGatherCalls : kScatterCalls] += times;
    out[gathers ? kGatherBytes : kScatterBytes] += times * static_cast<double>(one.array_bytes);
}

void add_times(const std::vector<plan::Step>& steps, double times, Figures& out) {
    for (const plan::Step& step : steps) {
        if (step.is_loop()) {
            add_times(step.steps, times * static_cast<double>(step.count), out);
        } else if (step.op.phase == ir::Phase::update) {
            out[kUpdate] += times * step.predicted_ms;
        } else if (const auto one = plan::collective_of(step)) {
            add_exchange(*one, times / kModelledMicrosteps, out);
        } else {
            out[kMicrostep] += times * step.predicted_ms / kModelledMicrosteps;
        }
    }
}

/// Most bytes alive in the segments of this name, state included.
double peak_of(const plan::PlannedProgram& program, std::string_view segment) {
    std::int64_t most = 0;
    for (const plan::Segment& one : program.segments) {
        if (one.name != segment) {
            continue;
        }
        for (std::size_t i = 0; i < program.timeline.size(); ++i) {
            const auto& [first, bytes] = program.timeline[i];
            const bool ends_before =
                i + 1 < program.timeline.size() && program.timeline[i + 1].first <= one.first_step;
            if (first < one.first_step + one.steps && !ends_before) {
                most = std::max(most, bytes);
            }
        }
    }
    return static_cast<double>(most);
}

Figures figures_of(const plan::ExecutionPlan& plan) {
    Figures out{};
    const plan::PlannedProgram& step = *plan.find("train_step");
    add_times(step.steps, 1, out);
    for (const plan::StateSlot& slot : plan.state_slots) {
        const auto bytes = static_cast<double>(slot.type.bytes());
        const bool parameter = slot.category == plan::Category::parameters && slot.trainable;
        out[parameter                                    ? kParameterBytes
            : slot.category == plan::Category::optimizer ? kOptimizer
                                                         : kOther] += bytes;
        out[kTensors] += parameter ? 1 : 0;
    }
    const double kept = static_cast<double>(plan.state_bytes) + out[kParameterBytes];
    out[kScratch] = peak_of(step, "microstep") - kept;
    out[kUpdateScratch] = peak_of(step, "update") - kept;
    out[kCount] = static_cast<double>(plan.parameters);
    return out;
}

/// "h200" of "h200:64".
std::string devices_of(const compile::RunConfig& config, std::int64_t count) {
    const auto devices = config.section("mesh").at("devices").get<std::string>();
    const std::string name = devices.substr(0, devices.find(':'));
    return (name == "auto" ? "cpu" : name) + ":" + std::to_string(count);
}

class Fit {
public:
    Fit(const compile::RunConfig& config, const Planner& planner, std::int64_t model,
        bool recomputes)
        : config_(config), planner_(planner), model_(model), recomputes_(recomputes),
          layered_(config.section("model").contains("layers") &&
                   !config.section("model").at("layers").is_array()) {}

    BlockFit run(std::int64_t parameters) {
        // Few samples, more samples, few on each of two data ranks.
        std::array<Figures, 3> few{};
        std::array<Figures, 3> more{};
        for (std::size_t i = 0; i < few.size(); ++i) {
            const std::int64_t samples = i == 1 ? kMoreSamples : kFewSamples;
            const std::int64_t ranks = i == 2 ? 2 : 1;
            for (auto* into : {&few, &more}) {
                if (into == &more && !layered_) {
                    more[i] = few[i];
                    continue;
                }
                const auto found = plan(into == &few ? kFewLayers : kMoreLayers, samples, ranks);
                if (!found) {
                    return std::move(out_);
                }
                (*into)[i] = *found;
            }
        }
        const double per_layer = (more[0][kCount] - few[0][kCount]) / (kMoreLayers - kFewLayers);
        out_.layers =
            layered_ && per_layer > 0
                ? kFewLayers + (static_cast<double>(parameters) - few[0][kCount]) / per_layer
                : 0;
        out_.none = model_of(at(few, more, 0));
        out_.one = model_of(at(few, more, 1));
        return std::move(out_);
    }

private:
    std::optional<Figures> plan(std::int64_t layers, std::int64_t samples, std::int64_t ranks) {
        std::vector<std::string> overrides = {
            "mesh.devices=\"" + devices_of(config_, ranks * model_) + "\"",
            "mesh.strategy=2d",
            "mesh.axes=[[\"data\"," + std::to_string(ranks) + "],[\"model\"," +
                std::to_string(model_) + "]]",
            ranks > 1 ? "mesh.zero_stage=3" : "mesh.zero_stage=0",
            std::string("training.recompute=") + (recomputes_ ? "blocks" : "none"),
            "training.global_batch_size=" + std::to_string(kModelledMicrosteps * samples * ranks),
            "training.micro_batch_size=" + std::to_string(samples)};
        if (layered_) {
            overrides.push_back("model.layers=" + std::to_string(layers));
        }
        const auto changed = compile::with_overrides(config_, overrides);
        if (!changed) {
            out_.problem = "gives no valid run";
            return std::nullopt;
        }
        const plan::ExecutionPlan plan = planner_(*changed);
        ++out_.plans;
        for (const sharding::Finding& finding : plan.findings) {
            if (finding.matters() && ranks == 1) {
                out_.problem = finding.array.substr(finding.array.rfind('/') + 1) +
                               " cannot be split over " + std::to_string(model_) + " devices";
                return std::nullopt;
            }
        }
        return figures_of(plan);
    }

    /// What so many layers come to. A model that is planned whole is the same with any number.
    std::array<Figures, 3> at(const std::array<Figures, 3>& few, const std::array<Figures, 3>& more,
                              double layers) const {
        std::array<Figures, 3> out{};
        const double far = (layers - kFewLayers) / (kMoreLayers - kFewLayers);
        for (std::size_t i = 0; i < out.size(); ++i) {
            for (std::size_t f = 0; f < kFigures; ++f) {
                out[i][f] = few[i][f] + far * (more[i][f] - few[i][f]);
            }
        }
        return out;
    }

    static BlockModel model_of(const std::array<Figures, 3>& all) {
        const auto line = [&](Figure figure) {
            const double slope = (all[1][figure] - all[0][figure]) / (kMoreSamples - kFewSamples);
            return Line{all[0][figure] - kFewSamples * slope, slope};
        };
        BlockModel out;
        out.microstep_ms = line(kMicrostep);
        out.exchange_ms = line(kExchange);
        out.scratch_bytes = line(kScratch);
        out.update_ms = all[0][kUpdate];
        out.parameter_bytes = all[0][kParameterBytes];
        out.parameter_tensors = all[0][kTensors];
        out.optimizer_bytes = all[0][kOptimizer];
        out.other_state_bytes = all[0][kOther];
        out.update_scratch_bytes = all[0][kUpdateScratch];
        const Figures& split = all[2];
        out.split = {split[kScratch] - all[0][kScratch],
                     {split[kGatherCalls], split[kGatherBytes]},
                     {split[kScatterCalls], split[kScatterBytes]}};
        return out;
    }

    const compile::RunConfig& config_;
    const Planner& planner_;
    std::int64_t model_;
    bool recomputes_;
    bool layered_;
    BlockFit out_;
};

double between(double none, double one, double layers) {
    return none + layers * (one - none);
}
Line between(const Line& none, const Line& one, double layers) {
    return {between(none.base, one.base, layers), between(none.slope, one.slope, layers)};
}
Traffic between(const Traffic& none, const Traffic& one, double layers) {
    return {between(none.calls, one.calls, layers), between(none.bytes, one.bytes, layers)};
}

} // namespace

BlockModel BlockFit::of(double layers) const {
    const auto both = [&](const auto& member) {
        return between(none.*member, one.*member, layers);
    };
    BlockModel out;
    out.microstep_ms = both(&BlockModel::microstep_ms);
    out.exchange_ms = both(&BlockModel::exchange_ms);
    out.scratch_bytes = both(&BlockModel::scratch_bytes);
    out.update_scratch_bytes = both(&BlockModel::update_scratch_bytes);
    out.update_ms = both(&BlockModel::update_ms);
    out.parameter_bytes = both(&BlockModel::parameter_bytes);
    out.parameter_tensors = both(&BlockModel::parameter_tensors);
    out.optimizer_bytes = both(&BlockModel::optimizer_bytes);
    out.other_state_bytes = both(&BlockModel::other_state_bytes);
    out.split = {between(none.split.scratch_bytes, one.split.scratch_bytes, layers),
                 between(none.split.gathered, one.split.gathered, layers),
                 between(none.split.scattered, one.split.scattered, layers)};
    return out;
}

BlockFit fit_block_model(const compile::RunConfig& config, const Planner& planner,
                         std::int64_t model, bool recomputes, std::int64_t parameters) {
    return Fit(config, planner, model, recomputes).run(parameters);
}

} // namespace weft::advise
