// SPDX-License-Identifier: Apache-2.0
// Ops that move elements without computing: bytes in, bytes out.
#include "kernels/reference/reference_list.h"

#include <cstring>

namespace weft::kernels::reference {
namespace {

/// Visits every element of `shape` in order: fn(linear index, offset under `strides`).
template <class Fn>
void walk(const Dims& shape, const Dims& strides, Fn fn) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) {
        count *= size;
    }
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t offset = 0;
        std::int64_t rest = i;
        for (std::size_t d = shape.size(); d-- > 0;) {
            offset += rest % shape[d] * strides[d];
            rest /= shape[d];
        }
        fn(i, offset);
    }
}

/// Output element i is input element `base` + the walk's offset.
Body gather(const Op& op, const Dims& strides, std::int64_t base) {
    require(op.input(0).dtype == op.output(0).dtype, "input and output differ in dtype");
    const Dims shape = shape_of(op.output(0));
    const std::int64_t size = dtype_size(op.output(0).dtype);
    return [=](const Call& call) {
        const auto* from = static_cast<const unsigned char*>(call.raw_in(0));
        auto* to = static_cast<unsigned char*>(call.raw_out(0));
        walk(shape, strides, [&](std::int64_t i, std::int64_t offset) {
            std::memcpy(to + i * size, from + (base + offset) * size,
                        static_cast<std::size_t>(size));
        });
        return WEFT_OK;
    };
}

} // namespace

Body make_constant(const Op& op) {
    const double value = op.real("value");
    const std::int64_t count = element_count(op.output(0));
    return [=](const Call& call) {
        for (std::int64_t i = 0; i < count; ++i) {
            call.out(0)[i] = value;
        }
        return WEFT_OK;
    };
}

Body make_copy(const Op& op) {
    require(op.input(0).dtype == op.output(0).dtype &&
                element_count(op.input(0)) == element_count(op.output(0)),
            "input and output differ in dtype or size");
    const std::int64_t bytes = element_count(op.input(0)) * dtype_size(op.input(0).dtype);
    return [=](const Call& call) {
        std::memmove(call.raw_out(0), call.raw_in(0), static_cast<std::size_t>(bytes));
        return WEFT_OK;
    };
}

Body make_transpose(const Op& op) {
    const Dims order = op.list("permutation");
    const Dims from = shape_of(op.input(0));
    const Dims to = shape_of(op.output(0));
    require(order.size() == from.size() && to.size() == from.size(),
            "the permutation's length is not the rank");
    const Dims dense = dense_strides(from);
    Dims strides(from.size());
    std::vector<bool> seen(from.size());
    for (std::size_t d = 0; d < order.size(); ++d) {
        const std::int64_t source = order[d];
        require(source >= 0 && source < op.input(0).rank && !seen[static_cast<std::size_t>(source)],
                "not a permutation");
        seen[static_cast<std::size_t>(source)] = true;
        require(to[d] == from[static_cast<std::size_t>(source)],
                "the output's shape is not the permuted one");
        strides[d] = dense[static_cast<std::size_t>(source)];
    }
    return gather(op, strides, 0);
}

Body make_broadcast(const Op& op) {
    return gather(op, broadcast_strides(op.input(0), op.output(0)), 0);
}

Body make_slice(const Op& op) {
    const Dims starts = op.list("starts");
    const Dims from = shape_of(op.input(0));
    const Dims to = shape_of(op.output(0));
    require(starts.size() == from.size() && to.size() == from.size(),
            "starts, input and output differ in rank");
    const Dims dense = dense_strides(from);
    std::int64_t base = 0;
    for (std::size_t d = 0; d < from.size(); ++d) {
        require(starts[d] >= 0 && starts[d] + to[d] <= from[d], "the slice leaves the input");
        base += starts[d] * dense[d];
    }
    return gather(op, dense, base);
}

Body make_pad(const Op& op) {
    const Dims low = op.list("low");
    const double value = op.real("value", 0.0);
    const Dims from = shape_of(op.input(0));
    const Dims to = shape_of(op.output(0));
    require(low.size() == from.size() && to.size() == from.size(), "ranks differ");
    const Dims dense = dense_strides(to);
    std::int64_t base = 0;
    for (std::size_t d = 0; d < from.size(); ++d) {
        require(low[d] >= 0 && low[d] + from[d] <= to[d], "the input leaves the padded output");
        base += low[d] * dense[d];
    }
    const std::int64_t count = element_count(op.output(0));
    return [=](const Call& call) {
        for (std::int64_t i = 0; i < count; ++i) {
            call.out(0)[i] = value;
        }
        walk(from, dense, [&](std::int64_t i, std::int64_t offset) {
            call.out(0)[base + offset] = call.in(0)[i];
        });
        return WEFT_OK;
    };
}

Body make_concat(const Op& op) {
    const std::int64_t dim = op.integer("dim");
    const Dims to = shape_of(op.output(0));
    require(dim >= 0 && dim < op.output(0).rank, "no such dimension to concatenate along");
    const std::int64_t size = dtype_size(op.output(0).dtype);
    const Dims dense = dense_strides(to);
    std::vector<Dims> shapes;
    std::int64_t total = 0;
    for (int i = 0; i < op.inputs(); ++i) {
        const Dims shape = shape_of(op.input(i));
        require(op.input(i).dtype == op.output(0).dtype && shape.size() == to.size(),
                "inputs differ in dtype or rank");
        for (std::size_t d = 0; d < to.size(); ++d) {
            require(shape[d] == to[d] || d == static_cast<std::size_t>(dim),
                    "inputs differ outside the concatenated dimension");
        }
        total += shape[static_cast<std::size_t>(dim)];
        shapes.push_back(shape);
    }
    require(total == to[static_cast<std::size_t>(dim)], "the parts do not fill the output");
    return [=](const Call& call) {
        std::int64_t base = 0;
        auto* out = static_cast<unsigned char*>(call.raw_out(0));
        for (std::size_t k = 0; k < shapes.size(); ++k) {
            const auto* part = static_cast<const unsigned char*>(call.raw_in(static_cast<int>(k)));
            walk(shapes[k], dense, [&](std::int64_t i, std::int64_t offset) {
                std::memcpy(out + (base + offset) * size, part + i * size,
                            static_cast<std::size_t>(size));
            });
            base += shapes[k][static_cast<std::size_t>(dim)] * dense[static_cast<std::size_t>(dim)];
        }
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
