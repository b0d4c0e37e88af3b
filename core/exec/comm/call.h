// SPDX-License-Identifier: Apache-2.0
// A collective as one rank calls it, what has to hold of it, and how ranks share its elements: what
// worlds of threads and of processes have in common. Private to core/exec/comm.
#pragma once

#include "core/exec/comm/communicator.h"

namespace weft::exec::comm {

struct Call {
    Kind kind = Kind::barrier;
    Reduction reduction = Reduction::sum;
    int root = 0;
    std::span<const Transfer> tensors;
    std::span<const Route> routes;
    std::string_view what;
};

/// Elements [first, first + count) of a tensor.
struct Chunk {
    std::int64_t first;
    std::int64_t count;
};
/// Chunk c of n: the first `elements` % n chunks are one element longer.
Chunk chunk_of(std::int64_t elements, int c, int n);

/// A wrong size or reduction is a programmer fault: src has so many parts of which dst has so many.
void check_sizes(std::span<const Transfer> tensors, int src_parts, int dst_parts);
void check_reduction(std::span<const Transfer> tensors, Reduction reduction);
/// Of a group of `size` ranks.
void check_routes(std::span<const Route> routes, int size);

} // namespace weft::exec::comm
