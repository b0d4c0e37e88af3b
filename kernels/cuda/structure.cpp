// SPDX-License-Identifier: Apache-2.0
// Ops that move elements: each is one box, or one per operand.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/move.h"
#include "kernels/numbers.h"
#include "kernels/structure_shape.h"

#include <cstring>
#include <limits>

namespace weft::kernels::cuda {
namespace {

Dims in_bytes(Dims strides, i64 size) {
    for (std::int64_t& stride : strides) {
        stride *= size;
    }
    return strides;
}

Box box_in_bytes(const MovedBox& box, i64 size) {
    return merged({size, box.shape, in_bytes(box.src, size), in_bytes(box.dst, size),
                   box.src_start * size, box.dst_start * size});
}

/// Moves a box of each input into the output.
Made moved(const Op& op, const std::vector<MovedBox>& parts) {
    std::vector<Box> boxes;
    for (const MovedBox& part : parts) {
        boxes.push_back(box_in_bytes(part, dtype_size(op.output(0).dtype)));
    }
    return launches([=](const Run& run) {
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            move_box(run, boxes[i], run.in(static_cast<int>(i)), run.out(0));
        }
    });
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
    case WEFT_F16: return to_f16(static_cast<float>(value)).bits;
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
    const i64 size = dtype_size(op.input(0).dtype);
    const Box box = merged({size, {copied_bytes(op) / size}, {size}, {size}});
    return launches([=](const Run& run) {
        if (run.in(0) != run.out(0)) {
            move_box(run, box, run.in(0), run.out(0));
        }
    });
}

Made make_transpose(const Op& op) {
    return moved(op, {transposed_box(op)});
}

Made make_broadcast(const Op& op) {
    return moved(op, {broadcast_box(op)});
}

Made make_slice(const Op& op) {
    return moved(op, {sliced_box(op)});
}

Made make_pad(const Op& op) {
    const i64 size = dtype_size(op.output(0).dtype);
    const Box box = box_in_bytes(padded_box(op), size);
    const u64 bits = stored(op.output(0).dtype, op.real("value", 0.0));
    const i64 count = element_count(op.output(0));
    return launches([=](const Run& run) {
        fill(run, run.out(0), count, size, bits);
        move_box(run, box, run.in(0), run.out(0));
    });
}

Made make_concat(const Op& op) {
    return moved(op, concatenated_boxes(op));
}

} // namespace weft::kernels::cuda
