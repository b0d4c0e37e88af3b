// SPDX-License-Identifier: GPL-3.0-or-later
// How one tensor is split, as something to edit: which axis splits which dimension and what says so
// (a rule, the strategy, an override, ZeRO), what a further axis would do, and the "--set"
// assignments of an edit. What is asked is what the engine would do of it
// (core/sharding/annotate.h). Pure.
#pragma once

#include "core/plan/plan.h"
#include "ui/bridge/draft/mesh_edit.h"

#include <QString>

#include <optional>
#include <string>
#include <vector>

namespace weft::ui {

/// What splits a dimension.
enum class SplitSource { Rule, Strategy, Override, Zero };

struct DimAxis {
    std::string axis;
    SplitSource source = SplitSource::Rule;

    friend bool operator==(const DimAxis&, const DimAxis&) = default;
};

struct DimEdit {
    std::int64_t extent = 0;
    std::string logical;       // "mlp"; empty: no rule can split it
    std::vector<DimAxis> axes; // major to minor
    std::int64_t padding = 0;  // units that are dealt out beyond those there are

    friend bool operator==(const DimEdit&, const DimEdit&) = default;
};

struct TensorEdit {
    std::vector<DimEdit> dims;
    std::string pattern;   // of the override in effect; empty: none
    bool own_rule = false; // a rule of the draft's own decides on a dimension
    QString because; // "rule mlp → model", "2d: mlp → model", "override", "no rule splits it"

    friend bool operator==(const TensorEdit&, const TensorEdit&) = default;
};

/// The tensor of a slot on the mesh of a configuration. It need not be the mesh that the slot was
/// planned for.
TensorEdit tensorEdit(const compile::RunConfig& config, const plan::StateSlot& slot);

/// For whom a dimension is split: this tensor (an override), or all with its logical axis (a rule).
enum class SplitScope { Tensor, Rule };

/// What splitting a dimension over one more axis would do.
struct SplitOutcome {
    bool possible = false;
    QString text;                   // why not; else what it costs beyond nothing, or empty
    std::int64_t padding_bytes = 0; // more than now, on all devices
};
SplitOutcome splitOutcome(const compile::RunConfig& config, const plan::StateSlot& slot, int dim,
                          const std::string& axis, SplitScope scope = SplitScope::Tensor);

/// Assignments that split a dimension over one more axis, or over none at all (an empty name). With
/// a rule the tensor's own override goes: it becomes like the others.
std::vector<std::string> withSplit(const compile::RunConfig& config, const plan::StateSlot& slot,
                                   int dim, const std::string& axis, SplitScope scope);
/// Takes an axis from a dimension of this tensor alone. An override that then says what the rules
/// say goes.
std::vector<std::string> withoutSplit(const compile::RunConfig& config, const plan::StateSlot& slot,
                                      int dim, const std::string& axis);
/// Takes the override in effect away: back to the rule.
std::vector<std::string> withoutOverride(const compile::RunConfig& config,
                                         const plan::StateSlot& slot);
/// Takes the draft's own rules for the tensor's logical axes away: back to the strategy.
std::vector<std::string> withoutOwnRules(const compile::RunConfig& config,
                                         const plan::StateSlot& slot);

/// Parameters with a dimension of this logical axis.
int tensorsWith(const plan::ExecutionPlan& plan, const std::string& logical);
/// "rule mlp → data, model" of a dimension that one more axis splits; none: "rule mlp → none".
QString ruleText(const compile::RunConfig& config, const plan::StateSlot& slot, int dim,
                 const std::string& axis);
/// Logical axes of a plan's parameters, in their order of appearance.
std::vector<std::string> logicalAxes(const plan::ExecutionPlan& plan);

} // namespace weft::ui
