// SPDX-License-Identifier: Apache-2.0
// What ops that move elements mean, read once for every back end: boxes of elements and where they
// lie at both ends, in elements.
#pragma once

#include "kernels/op.h"

namespace weft::kernels {

struct MovedBox {
    Dims shape;    // outermost first
    Dims src, dst; // strides
    std::int64_t src_start = 0, dst_start = 0;
};

// All throw BAD_ARGUMENT.

/// Bytes of input and output of a copy or reshape.
std::int64_t copied_bytes(const Op& op);
MovedBox transposed_box(const Op& op);
MovedBox broadcast_box(const Op& op);
MovedBox sliced_box(const Op& op);
/// Into the output, the rest of which holds attribute `value`.
MovedBox padded_box(const Op& op);
/// One for each input.
std::vector<MovedBox> concatenated_boxes(const Op& op);

} // namespace weft::kernels
