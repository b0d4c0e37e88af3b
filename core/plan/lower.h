// SPDX-License-Identifier: Apache-2.0
// From a final program to a planned one: steps with kernels and addresses.
#pragma once

#include "core/memory/share_storage.h"
#include "core/plan/plan.h"

#include <span>
#include <string>
#include <vector>

namespace weft::plan {

/// What runs one step.
struct KernelChoice {
    std::string kernel;  // "onednn matmul"; "" for planned-for hardware
    std::string backend; // "cpu"
    std::int64_t workspace_bytes = 0;
};

/// Gives every slot of a stage its offset in [0, returned bytes), in the given order.
std::int64_t place_slots(std::vector<StateSlot>& state_slots, int stage = 0);

/// Lays the program out in the arena behind the state region. `storage` belongs to `program` as it
/// is; `kernels` has one entry per step position (entries of loops are not read). State ports must
/// name slots of the same type: anything else is a programmer fault.
/// Ports are those of whole arrays; on a mesh the caller says what they are parts of.
PlannedProgram lower(ir::Program program, const memory::Storage& storage,
                     std::span<const KernelChoice> kernels, std::span<const StateSlot> state_slots,
                     std::int64_t state_bytes);

/// Of one program, as Stage has it: its arguments one after another, each aligned.
std::int64_t landing_bytes(const ir::Program& program);

/// The peak_bytes that `lower` would give, and nothing else: for trying many programs.
std::int64_t arena_bytes(const ir::Program& program, const memory::Storage& storage,
                         std::span<const KernelChoice> kernels,
                         std::span<const StateSlot> state_slots, std::int64_t state_bytes);

} // namespace weft::plan
