// SPDX-License-Identifier: Apache-2.0
// Moving elements without computing: what structure ops, and all that copies, are made of.
#pragma once

#include "kernels/cuda/launch.h"

namespace weft::kernels::cuda {

/// A box of elements and where it lies at both ends, in bytes.
struct Box {
    i64 element_bytes = 1;
    Dims shape;                // outermost first
    Dims src_bytes, dst_bytes; // strides
    i64 src_start = 0, dst_start = 0;
};

/// Merges dimensions that lie one after another at both ends; widens the element while the
/// innermost one is dense. What a launch needs is in the result, which may be kept.
Box merged(Box box);

/// Queues the move of a merged box.
void move_box(const Run& run, const Box& box, const void* src, void* dst);

/// Queues writing `count` elements of 1, 2, 4 or 8 bytes.
void fill(const Run& run, void* dst, i64 count, i64 element_bytes, u64 bits);

} // namespace weft::kernels::cuda
