// SPDX-License-Identifier: Apache-2.0
// The arithmetic of collectives over plain memory. Free functions; no allocation. Sums of bf16
// and f16 are kept in f32 and rounded once (to nearest, ties to even), all other types in their
// own.
#pragma once

#include "core/exec/comm/communicator.h"

#include <span>

namespace weft::exec::comm {

/// dst[i] = (src0[i] op src1[i]) op src2[i] ..., left to right; mean divides that by the number of
/// sources. Each source holds dst.size() bytes; dst may be one of them.
void reduce(ir::DType dtype, Reduction reduction, std::span<const std::byte* const> sources,
            std::span<std::byte> dst);

/// The type in which a tree carries partial results: f32 for bf16 and f16, else the type itself.
ir::DType partial_dtype(ir::DType dtype);
/// `count` values as partial results; src may be dst when the types are equal.
void widen(ir::DType dtype, const std::byte* src, std::byte* dst, std::int64_t count);
/// Partial results over `ranks` ranks as values: divides for mean, rounds bf16 and f16. src may be
/// dst when the types are equal.
void finish(ir::DType dtype, Reduction reduction, int ranks, const std::byte* src, std::byte* dst,
            std::int64_t count);

} // namespace weft::exec::comm
