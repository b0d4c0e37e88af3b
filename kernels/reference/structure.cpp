// SPDX-License-Identifier: Apache-2.0
// Ops that move elements without computing: bytes in, bytes out.
#include "kernels/reference/reference_list.h"
#include "kernels/structure_shape.h"

#include <cstring>

namespace weft::kernels::reference {
namespace {

/// Visits every element of a box in order: fn(place in the source, place in the destination).
template <class Fn>
void walk(const MovedBox& box, Fn fn) {
    std::int64_t count = 1;
    for (const std::int64_t size : box.shape) {
        count *= size;
    }
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t src = box.src_start;
        std::int64_t dst = box.dst_start;
        std::int64_t rest = i;
        for (std::size_t d = box.shape.size(); d-- > 0;) {
            src += rest % box.shape[d] * box.src[d];
            dst += rest % box.shape[d] * box.dst[d];
            rest /= box.shape[d];
        }
        fn(src, dst);
    }
}

/// Moves a box of each input into the output.
Body moved(const Op& op, std::vector<MovedBox> boxes) {
    const std::int64_t size = dtype_size(op.output(0).dtype);
    return [=, boxes = std::move(boxes)](const Call& call) {
        auto* to = static_cast<unsigned char*>(call.raw_out(0));
        for (std::size_t k = 0; k < boxes.size(); ++k) {
            const auto* from = static_cast<const unsigned char*>(call.raw_in(static_cast<int>(k)));
            walk(boxes[k], [&](std::int64_t src, std::int64_t dst) {
                std::memcpy(to + dst * size, from + src * size, static_cast<std::size_t>(size));
            });
        }
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
    const std::int64_t bytes = copied_bytes(op);
    return [=](const Call& call) {
        std::memmove(call.raw_out(0), call.raw_in(0), static_cast<std::size_t>(bytes));
        return WEFT_OK;
    };
}

Body make_transpose(const Op& op) {
    return moved(op, {transposed_box(op)});
}

Body make_broadcast(const Op& op) {
    return moved(op, {broadcast_box(op)});
}

Body make_slice(const Op& op) {
    return moved(op, {sliced_box(op)});
}

Body make_pad(const Op& op) {
    const MovedBox box = padded_box(op);
    const double value = op.real("value", 0.0);
    const std::int64_t count = element_count(op.output(0));
    return [=](const Call& call) {
        for (std::int64_t i = 0; i < count; ++i) {
            call.out(0)[i] = value;
        }
        walk(box, [&](std::int64_t src, std::int64_t dst) { call.out(0)[dst] = call.in(0)[src]; });
        return WEFT_OK;
    };
}

Body make_concat(const Op& op) {
    return moved(op, concatenated_boxes(op));
}

} // namespace weft::kernels::reference
