// SPDX-License-Identifier: GPL-3.0-or-later
// How arrays of a plan lie over its mesh, as the tiles that widgets draw. Pure functions of the
// plan.
#pragma once

#include "core/plan/plan.h"
#include "core/sharding/spec_text.h"
#include "widgets/mesh/tile_array.h"

#include <QString>
#include <QStringList>

#include <optional>

namespace weft::ui {

/// The tiles of an array of this shape. Every device that the placement names holds one tile, or
/// one in each part of a split with several parts.
widgets::TileArray tensorTiles(const sharding::Mesh& mesh, const ir::Shape& whole,
                               const sharding::Sharding& placement);
widgets::TileArray tensorTiles(const plan::ExecutionPlan& plan, const plan::Tensor& tensor);

/// A line for devices with the same tiles: "0, 2: [:, 0:16 and 32:48]".
QString tilesText(const widgets::TileArray& tiles);

/// What of a parameter is looked at; other tensors have the first side alone.
enum class TensorSide { Parameter, Gradient, Optimizer, Activation };

/// One side of a tensor: where it lies and what that takes.
struct TensorSheet {
    QString name; // of the tensor, or of the activation that it makes
    widgets::TileArray tiles;
    QString type;                  // "f32", "m, v · f32"
    QString spec;                  // in the dialect that was asked for
    QString spec_remark;           // see specRemark()
    std::vector<QStringList> axes; // per dimension: of the mesh, that split it
    std::vector<qint64> local;     // shape on a device
    qint64 local_bytes = 0;        // on a device, of all arrays of this side
    qint64 padding_bytes = 0;      // on all devices
    int copies = 1;                // of every tile
    QStringList copy_axes;         // of the mesh, over which they lie
    QStringList sum_axes;          // over which every device has terms of sums alone
    int stage = -1;                // of a pipeline; -1: there is none
};

/// None: the tensor has no such side. The gradient lies as the update takes it: like the
/// optimizer's state from ZeRO stage 2 on, like the parameter before. The activation is what the
/// first op puts out that reads the parameter.
std::optional<TensorSheet> tensorSheet(const plan::ExecutionPlan& plan, const plan::Tensor& tensor,
                                       TensorSide side, sharding::SpecDialect dialect);

/// Devices with the same tile.
int tensorCopies(const plan::ExecutionPlan& plan, const plan::Tensor& tensor);
/// "P(None, 'model')" or "[Replicate(), Shard(1)]"
QString specText(const plan::ExecutionPlan& plan, const plan::Tensor& tensor,
                 sharding::SpecDialect dialect);
/// Lines about a spec in this dialect: the axes that its placements are for, and what they cannot
/// say. Empty: it speaks for itself.
QString specRemark(const plan::ExecutionPlan& plan, const plan::Tensor& tensor,
                   sharding::SpecDialect dialect);
/// "384×1152"; "1" for a single number.
QString shapeText(const ir::Shape& shape);

/// "1.13 MiB", "864 KiB", "40 B": three places, for columns and short lines.
QString shortMemory(qint64 bytes);

} // namespace weft::ui
