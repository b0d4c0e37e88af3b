// SPDX-License-Identifier: Apache-2.0
#include "core/exec/comm/call.h"

#include <algorithm>

namespace weft::exec::comm {

Chunk chunk_of(std::int64_t elements, int c, int n) {
    const std::int64_t whole = elements / n;
    const std::int64_t longer = elements % n;
    return {c * whole + std::min<std::int64_t>(c, longer), whole + (c < longer ? 1 : 0)};
}

void check_sizes(std::span<const Transfer> tensors, int src_parts, int dst_parts) {
    for (const Transfer& tensor : tensors) {
        const auto element = static_cast<std::size_t>(ir::dtype_bytes(tensor.dtype));
        const auto from = static_cast<std::size_t>(src_parts);
        const auto to = static_cast<std::size_t>(dst_parts);
        WEFT_CHECK(tensor.src.size() * to == tensor.dst.size() * from,
                   "src and dst of a collective fit together");
        WEFT_CHECK(tensor.src.size() % (from * element) == 0, "parts are whole elements");
    }
}

void check_reduction(std::span<const Transfer> tensors, Reduction reduction) {
    for (const Transfer& tensor : tensors) {
        WEFT_CHECK(reduction != Reduction::mean || ir::is_float(tensor.dtype),
                   "a mean has a float type");
    }
}

void check_routes(std::span<const Route> routes, int size) {
    for (std::size_t i = 0; i < routes.size(); ++i) {
        WEFT_CHECK(routes[i].source >= 0 && routes[i].source < size && routes[i].destination >= 0 &&
                       routes[i].destination < size,
                   "routes lead between ranks of the group");
        for (const Route& earlier : routes.first(i)) {
            WEFT_CHECK(earlier.source != routes[i].source &&
                           earlier.destination != routes[i].destination,
                       "a rank sends once and receives once in a permutation");
        }
    }
}

} // namespace weft::exec::comm
