// SPDX-License-Identifier: Apache-2.0
// The host's side of attention.h.
#pragma once

#include "kernels/cuda/attention.h"
#include "kernels/cuda/launch.h"

#include <type_traits>

namespace weft::kernels::cuda {

/// Calls fn with the head width rounded up to one that kernels are made for.
template <class Fn>
void with_width(const AttentionShape& a, Fn fn) {
    if (a.d <= 64) {
        fn(std::integral_constant<int, 64>());
    } else if (a.d <= 128) {
        fn(std::integral_constant<int, 128>());
    } else {
        fn(std::integral_constant<int, 256>());
    }
}

/// Element types of queries, keys and values, and what kernels take. Throws Failure.
struct AttentionTypes {
    int q, k, v;

    explicit AttentionTypes(const Op& op)
        : q(float_dtype(op.input(0))), k(float_dtype(op.input(1))), v(float_dtype(op.input(2))) {
        if (op.input(0).shape[3] > 256) {
            unsupported("heads of at most 256 channels");
        }
        if (op.input(0).shape[0] * op.input(0).shape[2] > 65535) {
            unsupported("at most 65535 heads of all samples");
        }
    }
    AttentionInputs inputs(const Run& run, const AttentionShape& a) const {
        return {{run.in(0), q},
                {run.in(1), k},
                {run.in(2), v},
                a.dropout ? static_cast<const i64*>(run.in(a.random_operand)) : nullptr,
                a.ring ? static_cast<const i64*>(run.in(a.place_operand)) : nullptr,
                nullptr,
                a.positions_operand < 0
                    ? nullptr
                    : static_cast<const std::int32_t*>(run.in(a.positions_operand))};
    }
};

} // namespace weft::kernels::cuda
