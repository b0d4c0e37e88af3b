// SPDX-License-Identifier: Apache-2.0
#include "kernels/rotary_shape.h"

namespace weft::kernels {

RotaryShape rotary_shape(const Op& op) {
    const Type& x = op.input(0);
    require(x.rank == 4 && same_shape(x, op.output(0)), "rotary takes [N,T,H,D] and keeps it");
    require(x.shape[3] % 2 == 0, "rotary turns pairs of channels: D must be even");
    const RotaryShape s{x.shape[0],     x.shape[1],       x.shape[2],
                        x.shape[3],     op.real("theta"), op.flag("inverse") ? -1.0 : 1.0,
                        op.inputs() > 1};
    require(s.theta > 0.0, "theta must be positive");
    require(!s.positioned || (op.input(1).dtype == WEFT_I64 && element_count(op.input(1)) == 1),
            "the position is not i64[]");
    return s;
}

} // namespace weft::kernels
