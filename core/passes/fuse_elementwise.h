// SPDX-License-Identifier: Apache-2.0
// Groups elementwise ops so that a chain is one sweep over memory.
#pragma once

#include "core/passes/op_groups.h"

namespace weft::passes {

/// Limits of one group: registers of a kernel are few, and a sweep should stay in the first cache.
constexpr int kMaxGroupInputs = 24;
constexpr int kMaxGroupSteps = 64;

/// Puts connected elementwise ops of one block, phase, group of `kinds` and result shape into
/// `fused` ops with a body. A group takes the place of its last op, so an op joins a group only
/// when nothing outside reads the group before, and, for large values, only when no other kernel
/// runs in between (the group's inputs would live longer). Groups of one stay single ops. f64 mixes
/// with no other type.
void fuse_elementwise(ir::Program& program, const OpGroups& kinds = one_group);

} // namespace weft::passes
