// SPDX-License-Identifier: Apache-2.0
#include "core/compile/block_model.h"

#include "core/base/error.h"
#include "core/compile/mesh_config.h"

#include <algorithm>
#include <array>
#include <optional>

namespace weft::compile {
namespace {

constexpr std::int64_t kFewLayers = 2;
constexpr std::int64_t kMoreLayers = 4;
constexpr std::int64_t kSteps = 2; // so that gradients are summed up, as in the run

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
    kPacked,
    kCount,
    kFigures
};
using Figures = std::array<double, kFigures>;

void add_times(const std::vector<plan::Step>& steps, double times, Figures& out) {
    for (const plan::Step& step : steps) {
        if (step.is_loop()) {
            add_times(step.steps, times * static_cast<double>(step.count), out);
        } else if (step.op.phase == ir::Phase::update) {
            out[kUpdate] += times * step.predicted_ms;
        } else {
            const Figure figure = plan::collective_of(step) ? kExchange : kMicrostep;
            out[figure] += times * step.predicted_ms / kSteps;
        }
    }
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
    const auto bytes = plan::bytes_by_category(plan, "train_step");
    out[kPacked] =
        static_cast<double>(bytes[static_cast<std::size_t>(plan::Category::packed_weights)]);
    out[kScratch] = static_cast<double>(step.peak_bytes - plan.state_bytes) - out[kPacked] -
                    out[kParameterBytes];
    out[kCount] = static_cast<double>(plan.parameters);
    return out;
}

/// "h200" of "h200:64".
std::string devices_of(const RunConfig& config, std::int64_t count) {
    const auto devices = config.section("mesh").at("devices").get<std::string>();
    const std::string name = devices.substr(0, devices.find(':'));
    return (name == "auto" ? "cpu" : name) + ":" + std::to_string(count);
}

class Fit {
public:
    Fit(const RunConfig& config, const Planner& planner, std::int64_t model, bool recomputes)
        : config_(config), planner_(planner), model_(model), recomputes_(recomputes),
          layered_(config.section("model").contains("layers") &&
                   !config.section("model").at("layers").is_array()) {}

    BlockModel run(std::int64_t parameters) {
        std::array<Figures, 2> few{};
        std::array<Figures, 2> more{};
        for (const std::int64_t samples : {1, 2}) {
            const auto i = static_cast<std::size_t>(samples - 1);
            for (auto* into : {&few, &more}) {
                if (into == &more && !layered_) {
                    more[i] = few[i];
                    continue;
                }
                const auto found = plan(into == &few ? kFewLayers : kMoreLayers, samples);
                if (!found) {
                    return std::move(out_);
                }
                (*into)[i] = *found;
            }
        }
        const double per_layer = more[0][kCount] - few[0][kCount];
        // In units of the distance between both fits.
        const double far = layered_ && per_layer > 0
                               ? (static_cast<double>(parameters) - few[0][kCount]) / per_layer
                               : 0;
        std::array<Figures, 2> all{};
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (std::size_t f = 0; f < kFigures; ++f) {
                all[i][f] = few[i][f] + far * (more[i][f] - few[i][f]);
            }
        }
        const auto line = [&](Figure figure) {
            const double slope = all[1][figure] - all[0][figure];
            return Line{all[0][figure] - slope, slope};
        };
        out_.microstep_ms = line(kMicrostep);
        out_.exchange_ms = line(kExchange);
        out_.scratch_bytes = line(kScratch);
        out_.update_ms = all[0][kUpdate];
        out_.parameter_bytes = all[0][kParameterBytes];
        out_.parameter_tensors = all[0][kTensors];
        out_.optimizer_bytes = all[0][kOptimizer];
        out_.other_state_bytes = all[0][kOther];
        out_.packed_bytes = all[0][kPacked];
        return std::move(out_);
    }

private:
    std::optional<Figures> plan(std::int64_t layers, std::int64_t samples) {
        std::vector<std::string> overrides = {
            "mesh.devices=\"" + devices_of(config_, model_) + "\"",
            "mesh.strategy=2d",
            "mesh.axes=[[\"data\",1],[\"model\"," + std::to_string(model_) + "]]",
            "mesh.zero_stage=0",
            std::string("training.recompute=") + (recomputes_ ? "blocks" : "none"),
            "training.global_batch_size=" + std::to_string(kSteps * samples),
            "training.micro_batch_size=" + std::to_string(samples)};
        if (layered_) {
            overrides.push_back("model.layers=" + std::to_string(layers));
        }
        const auto changed = with_overrides(config_, overrides);
        if (!changed) {
            out_.problem = "gives no valid run";
            return std::nullopt;
        }
        const plan::ExecutionPlan plan = planner_(*changed);
        ++out_.plans;
        for (const sharding::Finding& finding : plan.findings) {
            if (finding.matters()) {
                out_.problem = finding.array.substr(finding.array.rfind('/') + 1) +
                               " cannot be split over " + std::to_string(model_) + " devices";
                return std::nullopt;
            }
        }
        for (const plan::StateSlot& slot : plan.state_slots) {
            if (slot.category == plan::Category::parameters) {
                out_.largest_parameter_bytes =
                    std::max(out_.largest_parameter_bytes,
                             static_cast<double>(slot.whole.bytes()) / static_cast<double>(model_));
            }
        }
        return figures_of(plan);
    }

    const RunConfig& config_;
    const Planner& planner_;
    std::int64_t model_;
    bool recomputes_;
    bool layered_;
    BlockModel out_;
};

} // namespace

BlockModel fit_block_model(const RunConfig& config, const Planner& planner, std::int64_t model,
                           bool recomputes, std::int64_t parameters) {
    return Fit(config, planner, model, recomputes).run(parameters);
}

} // namespace weft::compile
