// SPDX-License-Identifier: Apache-2.0
// Ops that move elements: each is one box, or one per operand.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/move.h"
#include "kernels/numbers.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace weft::kernels::cuda {
namespace {

Dims in_bytes(Dims strides, i64 size) {
    for (std::int64_t& stride : strides) {
        stride *= size;
    }
    return strides;
}

/// Output element i is input element `base` plus its place under `strides`, in elements.
Box gathered(const Op& op, const Dims& strides, std::int64_t base) {
    require(op.input(0).dtype == op.output(0).dtype, "input and output differ in dtype");
    const i64 size = dtype_size(op.output(0).dtype);
    const Dims shape = shape_of(op.output(0));
    return merged({size, shape, in_bytes(strides, size), in_bytes(dense_strides(shape), size),
                   base * size, 0});
}

Made moved(const Box& box) {
    return launches([=](const Run& run) { move_box(run, box, run.in(0), run.out(0)); });
}

template <class T>
u64 bits_of(T value) {
    u64 bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class Integer>
u64 integer_bits(double value) {
    if (!(value >= static_cast<double>(std::numeric_limits<Integer>::min()) &&
          value <= static_cast<double>(std::numeric_limits<Integer>::max()))) {
        unsupported("a constant outside its type's range");
    }
    return bits_of(static_cast<Integer>(value));
}

/// A number as it is stored.
u64 stored(std::int32_t dtype, double value) {
    switch (dtype) {
    case WEFT_F32: return bits_of(static_cast<float>(value));
    case WEFT_BF16: return to_bf16(static_cast<float>(value)).bits;
    case WEFT_F64: return bits_of(value);
    case WEFT_I32: return integer_bits<std::int32_t>(value);
    case WEFT_I64: return integer_bits<std::int64_t>(value);
    default: return integer_bits<std::uint8_t>(value);
    }
}

} // namespace

Made make_constant(const Op& op) {
    const i64 size = dtype_size(op.output(0).dtype);
    const i64 count = element_count(op.output(0));
    const u64 bits = stored(op.output(0).dtype, op.real("value"));
    return launches([=](const Run& run) { fill(run, run.out(0), count, size, bits); });
}

Made make_copy(const Op& op) {
    require(op.input(0).dtype == op.output(0).dtype &&
                element_count(op.input(0)) == element_count(op.output(0)),
            "input and output differ in dtype or size");
    const i64 size = dtype_size(op.input(0).dtype);
    const Box box = merged({size, {element_count(op.input(0))}, {size}, {size}});
    return launches([=](const Run& run) {
        if (run.in(0) != run.out(0)) {
            move_box(run, box, run.in(0), run.out(0));
        }
    });
}

Made make_transpose(const Op& op) {
    const Dims order = op.list("permutation");
    const Dims from = shape_of(op.input(0));
    const Dims to = shape_of(op.output(0));
    require(order.size() == from.size() && to.size() == from.size(),
            "the permutation's length is not the rank");
    const Dims dense = dense_strides(from);
    Dims strides(from.size());
    std::vector<bool> seen(from.size());
    for (std::size_t d = 0; d < order.size(); ++d) {
        const auto source = static_cast<std::size_t>(order[d]);
        require(order[d] >= 0 && source < from.size() && !seen[source], "not a permutation");
        seen[source] = true;
        require(to[d] == from[source], "the output's shape is not the permuted one");
        strides[d] = dense[source];
    }
    return moved(gathered(op, strides, 0));
}

Made make_broadcast(const Op& op) {
    return moved(gathered(op, broadcast_strides(op.input(0), op.output(0)), 0));
}

Made make_slice(const Op& op) {
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
    return moved(gathered(op, dense, base));
}

Made make_pad(const Op& op) {
    const Dims low = op.list("low");
    const Dims from = shape_of(op.input(0));
    const Dims to = shape_of(op.output(0));
    require(low.size() == from.size() && to.size() == from.size(), "ranks differ");
    require(op.input(0).dtype == op.output(0).dtype, "input and output differ in dtype");
    const i64 size = dtype_size(op.output(0).dtype);
    const Dims dense = dense_strides(to);
    std::int64_t base = 0;
    for (std::size_t d = 0; d < from.size(); ++d) {
        require(low[d] >= 0 && low[d] + from[d] <= to[d], "the input leaves the padded output");
        base += low[d] * dense[d];
    }
    const u64 bits = stored(op.output(0).dtype, op.real("value", 0.0));
    const i64 count = element_count(op.output(0));
    const Box box = merged(
        {size, from, in_bytes(dense_strides(from), size), in_bytes(dense, size), 0, base * size});
    return launches([=](const Run& run) {
        fill(run, run.out(0), count, size, bits);
        move_box(run, box, run.in(0), run.out(0));
    });
}

Made make_concat(const Op& op) {
    const auto dim = static_cast<std::size_t>(op.integer("dim"));
    const Dims to = shape_of(op.output(0));
    require(dim < to.size(), "no such dimension to concatenate along");
    const i64 size = dtype_size(op.output(0).dtype);
    const Dims dense = in_bytes(dense_strides(to), size);
    std::vector<Box> parts;
    std::int64_t total = 0;
    for (int i = 0; i < op.inputs(); ++i) {
        const Dims shape = shape_of(op.input(i));
        require(op.input(i).dtype == op.output(0).dtype && shape.size() == to.size(),
                "inputs differ in dtype or rank");
        for (std::size_t d = 0; d < to.size(); ++d) {
            require(shape[d] == to[d] || d == dim,
                    "inputs differ outside the concatenated dimension");
        }
        parts.push_back(merged(
            {size, shape, in_bytes(dense_strides(shape), size), dense, 0, total * dense[dim]}));
        total += shape[dim];
    }
    require(total == to[dim], "the parts do not fill the output");
    return launches([=](const Run& run) {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            move_box(run, parts[i], run.in(static_cast<int>(i)), run.out(0));
        }
    });
}

} // namespace weft::kernels::cuda
