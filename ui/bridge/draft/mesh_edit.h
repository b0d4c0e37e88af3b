// SPDX-License-Identifier: GPL-3.0-or-later
// The mesh of a draft as something to edit: devices, axes in order, strategy, rules of its own; and
// the "--set" assignments that an edit comes to. The product of the axes is the number of devices
// after every edit. Pure. Its rules are edited in rule_edit.h, single tensors in spec_edit.h, the
// pipeline in stage_edit.h.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/sharding/annotate.h"

#include <string>
#include <vector>

namespace weft::ui {

struct MeshAxis {
    std::string name;
    int size = 1;

    friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

struct MeshEdit {
    int devices = 1;
    std::string strategy;
    std::vector<MeshAxis> axes;             // major to minor
    int zero_stage = 0;                     // at least the strategy's own
    std::string kind = "cpu";               // "cuda", or hardware of the catalogue: "h200"
    std::vector<sharding::Rule> rules = {}; // of the draft's own, before the strategy's
    std::vector<int> gpus = {};             // where kind is "cuda": which, by number

    static MeshEdit of(const compile::RunConfig& config);
    bool single() const { return devices == 1; }
    friend bool operator==(const MeshEdit&, const MeshEdit&) = default;
};

/// Four devices, two by two: what the page shows of a draft that computes on one.
MeshEdit exampleMesh();

/// The axes that a strategy brings, over as many devices: sizes as even as they can be.
MeshEdit withStrategy(const MeshEdit& edit, const std::string& strategy);
/// Another ZeRO stage. Below what the strategy brings itself, the strategy becomes the one that is
/// the same without, or "custom" with all rules written out.
MeshEdit withZeroStage(const MeshEdit& edit, int stage);
/// Another number of devices: the first axis takes what the others leave; where they do not divide
/// it, the strategy's axes are dealt out anew.
MeshEdit withDevices(const MeshEdit& edit, int devices);
/// These GPUs of this machine, by number; none: as many simulated devices.
MeshEdit withGpus(const MeshEdit& edit, const std::vector<int>& gpus);
/// "cpu:4", "cuda:2", "cuda:0,2". Where there are more devices than GPUs were named, the lowest
/// numbers join.
std::string devicesText(const MeshEdit& edit);
/// The devices become the product of the axes.
MeshEdit withAxisSize(const MeshEdit& edit, std::size_t axis, int size);
/// Order is placement: the last axis has its partners side by side.
MeshEdit withAxisMoved(const MeshEdit& edit, std::size_t from, std::size_t to);

/// Names that axes usually have, each with what it is for: what "add an axis" offers.
struct AxisOffer {
    std::string name;
    std::string splits; // "batch", "heads, mlp, vocab": logical axes
};
std::vector<AxisOffer> axisOffers();
/// One more axis, where axes of its name usually stand. It takes a factor of an axis that keeps
/// more than one device; where none can spare one, there are twice as many devices. The strategy
/// becomes one that knows the axis beside those that are there, or "custom" with all rules written
/// out; an axis with a usual name splits what such axes split, another nothing yet.
MeshEdit withAxisAdded(const MeshEdit& edit, const std::string& name);
/// Why an axis cannot have this name, in words; empty: it can.
std::string axisNameProblem(const MeshEdit& edit, const std::string& name);
/// Its devices go to the first of the others, and its name leaves the rules. The last one stays.
MeshEdit withAxisRemoved(const MeshEdit& edit, std::size_t axis);

/// What makes the draft have this mesh. Rules, overrides and stages that no longer fit its axes
/// leave what does not out. A pipeline gets microbatches to work on when the batch is still taken
/// in one.
std::vector<std::string> assignmentsOf(const MeshEdit& edit, const compile::RunConfig& config);
/// Back to this machine's one device: what speaks of a mesh goes.
std::vector<std::string> oneDeviceAssignments(const compile::RunConfig& config);

} // namespace weft::ui
