// SPDX-License-Identifier: Apache-2.0
// Sums of rows that name where they belong, without atomic additions of numbers: the names are
// sorted first (radix, stable), so every sum has its terms in their order and equal bits each time.
#pragma once

#include "kernels/cuda/launch.h"

namespace weft::kernels::cuda {

/// out[key] = sum over i with keys[i] = key of gate[i] x[i / choices], for keys below `keys`.
struct SortedSums {
    i64 count;   // of rows that are named
    i64 keys;    // of sums
    i64 width;   // of a row
    i64 choices; // rows that follow each other and read the same x

    std::int64_t workspace_bytes() const;
    /// Where the caller puts count keys; those of `keys` or above belong nowhere.
    u32* key_array(const Run& run) const;
    /// Queues everything. `gates` may be null.
    void queue(const Run& run, Source x, const float* gates, Target out) const;
};

} // namespace weft::kernels::cuda
