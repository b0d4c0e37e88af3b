// SPDX-License-Identifier: Apache-2.0
// Lower compute precision (mixed precision training, Micikevicius et al., 2018): f16 as there,
// whose loss the training step scales, or bf16, which needs no scaling.
#pragma once

#include "core/ir/program.h"

namespace weft::passes {

/// Rewrites an f32 program so that matrix products, convolutions, attention and the elementwise ops
/// between them compute in `compute`. What stays f32, decided by the ops' records and by data flow:
///  - program ports and state slots: their types do not change; parameters are cast once, before
///    their first use, outside of loops;
///  - ops and operands that the records call full (losses, norms, statistics, optimizer), and every
///    elementwise op that such a value flows into;
///  - the update phase;
///  - elementwise and one-operand ops behind the last op that mixes operands (the loss and what is
///    reported);
///  - values carried by a loop, unless they start out in the compute type (accumulators stay wide);
///  - weight gradients that only f32 ops read (attribute wide).
/// Does nothing when `compute` is f32. Every op is inferred again; f64 values are left alone.
void apply_precision(ir::Program& program, ir::DType compute);

} // namespace weft::passes
