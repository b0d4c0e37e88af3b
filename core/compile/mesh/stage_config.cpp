// SPDX-License-Identifier: Apache-2.0
#include "core/compile/mesh/stage_config.h"

#include "core/base/error.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/compile/programs/programs.h"
#include "core/pipeline/schedule_list.h"
#include "core/pipeline/schedule_text.h"

#include <algorithm>

namespace weft::compile {
namespace {

using config::Json;
using config::Severity;

constexpr std::string_view kLayers = "layers";
constexpr int kUsualChunks = 2; // of a schedule that is about chunks

/// Layers of each part as given; empty: balanced.
std::vector<int> given_layers(const Json& pipeline) {
    const Json& stages = pipeline.at("stages");
    return stages.is_null() ? std::vector<int>() : stages.get<std::vector<int>>();
}

const pipeline::ScheduleDef& schedule_def(const std::string& name) {
    const auto found =
        std::ranges::find(pipeline::schedule_list(), name, &pipeline::ScheduleDef::name);
    WEFT_CHECK(found != pipeline::schedule_list().end(), "the schedule's name was checked");
    return *found;
}

int chunks_of(const Json& pipeline, int stages) {
    const std::vector<int> layers = given_layers(pipeline);
    if (!layers.empty()) {
        return static_cast<int>(layers.size()) / stages;
    }
    return schedule_def(pipeline.at("schedule").get<std::string>()).takes_chunks ? kUsualChunks : 1;
}

bool is_layer_list(const Json& stages) {
    return stages.is_array() && !stages.empty() &&
           std::all_of(stages.begin(), stages.end(),
                       [](const Json& one) { return one.is_number_integer() && one >= 1; });
}

pipeline::Schedule schedule_of_file(const RunConfig& config, const std::string& name, int stages,
                                    int microbatches) {
    const std::filesystem::path path = config.base_dir / name;
    pipeline::Schedule schedule = pipeline::read_schedule(path);
    if (schedule.stages != stages || schedule.microbatches != microbatches) {
        throw Error(ErrorKind::usage, path.string(),
                    "the schedule is for " + std::to_string(schedule.stages) + " stages and " +
                        std::to_string(schedule.microbatches) + " microbatches, the run has " +
                        std::to_string(stages) + " and " + std::to_string(microbatches),
                    "Microbatches are global_batch_size / (micro_batch_size x data ranks).");
    }
    return schedule;
}

} // namespace

std::optional<StageChoice> stage_choice(const RunConfig& config) {
    const Json& mesh = config.section("mesh");
    const sharding::Placement placement = placement_of(mesh);
    const std::vector<int> axes = placement.axes_of(kLayers);
    if (axes.empty() || placement.mesh.size(axes) == 1) {
        return std::nullopt;
    }
    const Json& section = mesh.at("pipeline");
    StageChoice out;
    out.axis = axes.front();
    out.layers = given_layers(section);
    const auto stages = static_cast<int>(placement.mesh.size(out.axis));
    const auto microbatches = static_cast<int>(plan_batch(config).accumulation_steps);
    out.schedule =
        section.at("file").is_null()
            ? pipeline::make_schedule(section.at("schedule").get<std::string>(), stages,
                                      microbatches, chunks_of(section, stages))
            : schedule_of_file(config, section.at("file").get<std::string>(), stages, microbatches);
    if (!out.layers.empty() && static_cast<int>(out.layers.size()) != out.schedule.parts()) {
        throw Error(ErrorKind::usage, "/mesh/pipeline/stages",
                    "it has " + std::to_string(out.layers.size()) + " numbers for " +
                        std::to_string(out.schedule.parts()) + " parts of the model",
                    "Give the layers of each part, or leave them out.");
    }
    return out;
}

void check_stages(const Json& mesh, const std::string& pointer, std::int64_t microbatches,
                  config::Diagnostics& out) {
    const auto error = [&](const char* where, std::string message, std::string hint) {
        out.push_back({pointer + where, Severity::error, std::move(message), std::move(hint)});
    };
    const sharding::Placement placement = placement_of(mesh);
    const std::vector<int> axes = placement.axes_of(kLayers);
    const Json& section = mesh.at("pipeline");
    const Json& layers = section.at("stages");
    if (axes.empty()) {
        if (!layers.is_null() || !section.at("file").is_null()) {
            error("/pipeline", "no rule gives layers to an axis of the mesh",
                  "Use strategy \"pipeline\" or \"3d\", or the rule [\"layers\", AXIS].");
        }
        return;
    }
    if (axes.size() > 1) {
        error("/rules", "layers go to one axis of the mesh", "Name one.");
        return;
    }
    const auto stages = static_cast<int>(placement.mesh.size(axes.front()));
    if (!layers.is_null() &&
        (!is_layer_list(layers) || static_cast<int>(layers.size()) % stages != 0)) {
        error("/pipeline/stages",
              "expected how many layers each part of the model has, " + std::to_string(stages) +
                  " numbers or a multiple of that",
              "Write [3, 2] for five layers on two stages, or leave it out to balance them.");
        return;
    }
    const bool by_rule = std::any_of(
        placement.rules.begin(), placement.rules.end(), [&](const sharding::Rule& rule) {
            return rule.logical != kLayers &&
                   std::ranges::count(
                       rule.axes,
                       placement.mesh.axes[static_cast<std::size_t>(axes.front())].name) > 0;
        });
    if (by_rule) {
        error("/rules", "an axis that layers go to splits nothing else",
              "Give the pipeline an axis of its own.");
        return;
    }
    if (microbatches == 0 || stages == 1 || !section.at("file").is_null()) {
        return;
    }
    try {
        pipeline::make_schedule(section.at("schedule").get<std::string>(), stages,
                                static_cast<int>(microbatches), chunks_of(section, stages));
    } catch (const Error& fault) {
        error("/pipeline/schedule", fault.text(), "Change training.micro_batch_size or the mesh.");
    }
}

} // namespace weft::compile
