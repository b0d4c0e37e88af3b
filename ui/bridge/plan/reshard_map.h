// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint read by another mesh (core/train/reshard.h) as the studio shows it: tensors with
// what happens to them, pieces and bands of each, what every device reads. Off the GUI thread.
#pragma once

#include "core/train/reshard.h"
#include "widgets/mesh/reshard_view.h"

#include <QString>

#include <filesystem>
#include <memory>
#include <vector>

namespace weft::ui {

/// What becomes of an array.
enum class ReshardKind {
    Stays,  // every piece goes to the device that saved it, and to no other
    Moves,  // every piece goes to one device
    Copied, // pieces stay whole, and several devices hold one
    Cut,    // parts are not the pieces that were saved
};

struct ReshardRow {
    QString name;
    QString type; // "f32[512,128]"
    QString from_spec, to_spec;
    qint64 bytes = 0; // of the whole array
    ReshardKind kind = ReshardKind::Stays;
    int slot = 0; // of the target's state
};

struct ReshardReader {
    qint64 read_bytes = 0;
    qint64 crossing_bytes = 0; // of them, saved by other devices
    int pieces = 0;            // opened
};

struct ReshardMap {
    std::shared_ptr<const checkpoint::Manifest> manifest;
    std::shared_ptr<const plan::ExecutionPlan> target;
    QString from_mesh, to_mesh; // "data=4 × model=2"
    std::vector<ReshardRow> rows;
    std::vector<ReshardReader> devices;
    QString problem, hint; // in the engine's words; the rest is then empty

    int count(ReshardKind kind) const;
};

/// What the saved run's configuration, with this section "mesh", would read of a checkpoint folder;
/// specs in a dialect.
ReshardMap mapReshard(const std::filesystem::path& checkpoint, const config::Json& mesh,
                      sharding::SpecDialect dialect);

/// One array of it, to draw. `row` is of the map.
widgets::ReshardArray reshardArray(const ReshardMap& map, const ReshardRow& row);

} // namespace weft::ui
