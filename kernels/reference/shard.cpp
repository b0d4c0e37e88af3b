// SPDX-License-Identifier: Apache-2.0
// A device's place on the mesh, its part of a value, and the padding of a split dimension.
#include "kernels/reference/reference_list.h"
#include "kernels/shard_shape.h"

#include <cstring>

namespace weft::kernels::reference {

Body make_mesh_index(const Op& op) { // coordinates -> indices
    const Dims strides = op.list("strides");
    const Dims base = op.list("base");
    const auto axes = static_cast<std::size_t>(element_count(op.input(0)));
    require(op.input(0).dtype == WEFT_I64 && op.output(0).dtype == WEFT_I64,
            "coordinates and indices are not i64");
    require(strides.size() == base.size() * axes &&
                element_count(op.output(0)) == static_cast<std::int64_t>(base.size()),
            "strides do not fit coordinates and base");
    return [=](const Call& call) {
        auto* out = static_cast<std::int64_t*>(call.raw_out(0));
        for (std::size_t r = 0; r < base.size(); ++r) {
            out[r] = base[r];
            for (std::size_t a = 0; a < axes; ++a) {
                out[r] += strides[r * axes + a] * call.integers(0)[a];
            }
        }
        return WEFT_OK;
    };
}

Body make_pick(const Op& op) { // x, index -> part
    const ShardShape s = shard_shape(op);
    return [=](const Call& call) {
        const std::int64_t index = call.integers(1)[0];
        if (index < 0 || index >= s.extent) {
            return fail(WEFT_BAD_ARGUMENT, "pick: the index is outside the dimension");
        }
        const auto* from = static_cast<const unsigned char*>(call.raw_in(0));
        auto* to = static_cast<unsigned char*>(call.raw_out(0));
        const std::int64_t bytes = s.inner * s.size;
        for (std::int64_t o = 0; o < s.outer; ++o) {
            std::memcpy(to + o * bytes, from + (o * s.extent + index) * bytes,
                        static_cast<std::size_t>(bytes));
        }
        return WEFT_OK;
    };
}

Body make_mask(const Op& op) { // x, first -> x, with `value` behind the end
    const ShardShape s = shard_shape(op);
    const std::int64_t end = op.integer("extent");
    const double value = padding_value(op);
    return [=](const Call& call) {
        for (std::int64_t o = 0; o < s.outer; ++o) {
            for (std::int64_t i = 0; i < s.extent; ++i) {
                const bool real = call.integers(1)[0] + i < end;
                for (std::int64_t j = 0; j < s.inner; ++j) {
                    const std::int64_t at = (o * s.extent + i) * s.inner + j;
                    call.out(0)[at] = real ? call.in(0)[at] : value;
                }
            }
        }
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
