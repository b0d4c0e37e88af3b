// SPDX-License-Identifier: GPL-3.0-or-later
// The layers of a model over the stages of a pipeline, as something to edit, and the "--set"
// assignments of an edit. Pure.
#pragma once

#include "core/plan/plan.h"
#include "ui/bridge/draft/mesh_edit.h"

#include <QString>

#include <optional>
#include <string>
#include <vector>

namespace weft::ui {

struct ModelLayer {
    std::string name; // "blocks.3"
    double flops = 0; // of a forward pass, with those of what stands beside it
};

/// The layers of a plan's training step, in order, and how many each part of the model has; parts
/// are stages, or their chunks in model order.
struct StageEdit {
    std::vector<ModelLayer> layers;
    std::vector<int> counts; // one part without a pipeline
    int stages = 1;
    friend bool operator==(const StageEdit&, const StageEdit&) = default;
};
inline bool operator==(const ModelLayer& a, const ModelLayer& b) {
    return a.name == b.name && a.flops == b.flops;
}
StageEdit stageEdit(const plan::ExecutionPlan& plan);

/// The axis that layers go to; empty: there is none of several devices.
std::string pipelineAxis(const compile::RunConfig& config);
/// Whether the draft itself says how many layers each part has.
bool hasOwnStages(const compile::RunConfig& config);

/// "mesh.pipeline.stages=[3,2]"; none: balanced by FLOPs.
std::string stagesAssignment(const std::optional<std::vector<int>>& counts);
std::string scheduleAssignment(const std::string& schedule);
/// A schedule of one's own takes the place of the one that is named; empty: no longer.
std::string scheduleFileAssignment(const std::string& file);
/// Lays the layers along an axis of the mesh, as even as can be: what split over it until now
/// splits no longer. Why it cannot be, in words, when the axis has one device or is the pipeline's
/// already.
QString pipelineProblem(const compile::RunConfig& config, const std::string& axis, int layers);
std::vector<std::string> withPipelineAlong(const compile::RunConfig& config,
                                           const std::string& axis);

/// The first error that the configuration would have with these assignments, in words; empty: none.
QString problemOf(const compile::RunConfig& config, const std::vector<std::string>& assignments);

} // namespace weft::ui
