// SPDX-License-Identifier: Apache-2.0
// The classifier head in pieces: no more logits at once than those of a piece.
#pragma once

#include "core/ir/program.h"
#include "core/passes/op_groups.h"

namespace weft::passes {

struct ChunkOptions {
    std::int64_t bytes = std::int64_t{128} << 20; // logits of fewer bytes stay whole
    /// Of a piece there are no fewer. Each piece reads the weights once more and adds to their
    /// gradient, so that few rows would wait for memory: with K inputs and V classes a piece of R
    /// rows multiplies 6 R K V times and moves 8 K V bytes beside.
    std::int64_t rows = 1024;
};

/// Where a product [N, K] x [K, V] makes logits that only losses, metrics and their gradients read,
/// all of these become a loop over pieces of the N rows: product, loss, metrics, gradient of the
/// logits and of the input, while the gradients of weights and bias add up. What a row gets is what
/// it got before; sums over rows add piece by piece. The loop belongs to the backward phase where
/// any part of it did, and to the forward phase in an evaluation. A head whose parts are kept apart
/// (pipelines), or whose loss gradient depends on other rows' losses, stays as it is.
/// Idea: Hsu et al. 2024, "Liger Kernel", section 3.2 (fused linear cross-entropy).
void chunk_head(ir::Program& program, const ChunkOptions& options = {},
                const OpGroups& kinds = one_group);

} // namespace weft::passes
