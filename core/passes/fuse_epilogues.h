// SPDX-License-Identifier: Apache-2.0
// Products together with what follows them, for back ends that do both in one sweep.
#pragma once

#include "core/passes/op_groups.h"

#include <functional>

namespace weft::passes {

/// Whether a back end has a kernel of its own for an op that is not in the program yet.
using HasKernel = std::function<bool(const ir::Program&, const ir::Op&)>;

/// Within a block, and a group of `kinds`: a linear layer and the gelu of its result become
/// `linear_gelu`; a product that only a gelu_grad reads becomes `matmul_gelu_grad`; a weight's
/// gradient and the sums of the same rows, a bias's, become `matmul_sums` where both are f32; a
/// product that is only added to something that is there before it, such as a sum of gradients,
/// becomes `matmul_add`. Only what `has_kernel` says yes to.
void fuse_epilogues(ir::Program& program, const OpGroups& kinds, const HasKernel& has_kernel);

} // namespace weft::passes
