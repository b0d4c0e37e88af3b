// SPDX-License-Identifier: Apache-2.0
// What random ops share: how many elements a sample has, and the hash of the stream.
#pragma once

#include "kernels/op.h"
#include "kernels/philox.h"

namespace weft::kernels {

struct RandomShape {
    std::int64_t count;
    std::int64_t per_sample; // elements of one sample: logical index = first sample * this + i
    std::uint64_t stream;
};

/// `random` is the index of the operand i64[3] = {seed, step, first sample}. Throws BAD_ARGUMENT.
inline RandomShape random_shape(const Op& op, int random) {
    require(op.input(random).dtype == WEFT_I64 && element_count(op.input(random)) == 3,
            "the random operand is not i64[3]");
    const Type& out = op.output(0);
    const std::int64_t count = element_count(out);
    const bool batched = out.rank > 0 && out.shape[0] > 0;
    return {count, batched ? count / out.shape[0] : count, stream_hash(op.text("stream"))};
}

} // namespace weft::kernels
