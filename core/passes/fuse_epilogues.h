// SPDX-License-Identifier: Apache-2.0
// Products together with what follows them, for devices whose library does both in one sweep.
#pragma once

#include "core/passes/op_groups.h"

namespace weft::passes {

/// Within a block, and a group of `kinds`: a linear layer and the gelu of its result become
/// `linear_gelu`; a product that only a gelu_grad reads becomes `matmul_gelu_grad`; a weight's
/// gradient and the sums of the same rows, a bias's, become `matmul_sums` where both are f32.
void fuse_epilogues(ir::Program& program, const OpGroups& kinds = one_group);

} // namespace weft::passes
