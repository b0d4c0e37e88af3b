// SPDX-License-Identifier: Apache-2.0
// A checkpoint on another arrangement of devices: what each device would read, and the same arrays
// saved as that arrangement would save them.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/compile/config/run_config.h"
#include "core/plan/plan.h"

#include <string>
#include <vector>

namespace weft::train {

/// What a device reads of one piece.
struct ReshardMove {
    int device = 0; // that reads
    int writer = 0; // of the shard that it reads from
    sharding::Box block;
    std::int64_t bytes = 0;
};
struct ReshardedTensor {
    std::string name;
    ir::Type type;
    std::string from_spec;
    std::string to_spec;
    std::vector<ReshardMove> moves; // by device
};
struct ReshardTotals {
    std::int64_t read_bytes = 0;
    std::int64_t crossing_bytes = 0; // of them, from shards of other devices
};
struct ReshardPreview {
    std::string from_mesh; // "data=4 x model=2"
    std::string to_mesh;
    std::vector<ReshardedTensor> tensors; // those that the target has
    std::vector<ReshardTotals> devices;
    ReshardTotals total() const;
};

/// The plan of a training step, for its state slots: no back end, and no data file where the
/// settings say what a sample is. Throws weft::Error.
plan::ExecutionPlan plan_of_slots(const compile::RunConfig& config);

/// Exactly what restore_tensors gives each device. Throws weft::Error{checkpoint} when an array has
/// another type than the slot.
ReshardPreview preview_reshard(const checkpoint::Manifest& manifest,
                               const plan::ExecutionPlan& target);

/// Writes `parent/step-NNNNNNNN` with the arrays of the target in its arrangement and `config` as
/// the configuration; takes memory for one copy of the arrays. Throws weft::Error{checkpoint}, also
/// when the folder is there already or the checkpoint lacks an array.
checkpoint::Manifest write_resharded(const checkpoint::Manifest& manifest,
                                     const plan::ExecutionPlan& target,
                                     const compile::RunConfig& config,
                                     const std::filesystem::path& parent);

} // namespace weft::train
