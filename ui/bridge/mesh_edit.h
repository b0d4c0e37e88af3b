// SPDX-License-Identifier: GPL-3.0-or-later
// The mesh of a draft as something to edit: devices, axes in order, strategy; and the "--set"
// assignments that an edit comes to. The product of the axes is the number of devices after every
// edit. Pure.
#pragma once

#include "core/compile/run_config.h"

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
    std::vector<MeshAxis> axes; // major to minor
    int zero_stage = 0;
    std::string kind = "cpu"; // or hardware of the catalogue: "h200"

    static MeshEdit of(const compile::RunConfig& config);
    bool single() const { return devices == 1; }
    friend bool operator==(const MeshEdit&, const MeshEdit&) = default;
};

/// Four devices, two by two: what the page shows of a draft that computes on one.
MeshEdit exampleMesh();

/// The axes that a strategy brings, over as many devices: sizes as even as they can be.
MeshEdit withStrategy(const MeshEdit& edit, const std::string& strategy);
/// Another number of devices: the first axis takes what the others leave; where they do not divide
/// it, the strategy's axes are dealt out anew.
MeshEdit withDevices(const MeshEdit& edit, int devices);
/// The devices become the product of the axes.
MeshEdit withAxisSize(const MeshEdit& edit, std::size_t axis, int size);
/// Order is placement: the last axis has its partners side by side.
MeshEdit withAxisMoved(const MeshEdit& edit, std::size_t from, std::size_t to);

/// What makes the draft have this mesh. A pipeline gets microbatches to work on when the batch is
/// still taken in one.
std::vector<std::string> assignmentsOf(const MeshEdit& edit, const compile::RunConfig& config);

} // namespace weft::ui
