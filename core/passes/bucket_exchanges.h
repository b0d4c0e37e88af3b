// SPDX-License-Identifier: Apache-2.0
// Gradients are exchanged in few messages, while the backward phase goes on.
#pragma once

#include "core/passes/op_groups.h"

#include <cstdint>

namespace weft::passes {

/// Of so many bytes of gradients that are exchanged alike: an eighth, so that seven eighths can
/// hide behind the backward phase; but not less than latency is small beside, and not more than
/// PyTorch's DistributedDataParallel found good (Li et al. 2020, section 4.2.3).
std::int64_t bucket_bytes(std::int64_t all);

/// Joins reductions of gradients that are alike but for their operands into exchanges of several
/// arrays, in the order in which these become ready, and puts each behind the op that makes its
/// last one; ops that only cut an operand up go with it. Where backward ops follow it, the exchange
/// can hide behind them: attribute `overlaps`. Reductions of the update phase, and those of the
/// backward phase that nothing but an accumulator waits for (ZeRO 2 and 3), loops included.
void bucket_exchanges(ir::Program& program, const OpGroups& groups = one_group);

} // namespace weft::passes
