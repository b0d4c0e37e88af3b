// SPDX-License-Identifier: Apache-2.0
// Blocks of numbers as eight-bit codes (kernels/eight_bit_map.h) and a scale, their largest size.
#include "kernels/eight_bit_map.h"
#include "kernels/reference/reference_list.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::kernels::reference {
namespace {

struct Blocks {
    std::int64_t count, size;
    std::array<float, kEightBitCodes> values;
};

Blocks blocks_of(const Op& op, const Type& numbers, const Type& scales) {
    Blocks out{element_count(scales), op.integer("block"), {}};
    require(out.size > 0 && out.count * out.size == element_count(numbers),
            "there is not one scale per block");
    for (int code = 0; code < kEightBitCodes; ++code) {
        out.values[static_cast<std::size_t>(code)] = eight_bit_value(code, op.flag("has_sign"));
    }
    return out;
}

} // namespace

Body make_quantize(const Op& op) { // numbers, keep, codes, scales -> codes, scales
    const Blocks blocks = blocks_of(op, op.input(0), op.input(3));
    require(element_count(op.input(1)) == 1, "what says whether to keep is one number");
    require(same_shape(op.input(0), op.input(2)) && same_shape(op.input(0), op.output(0)) &&
                same_shape(op.input(3), op.output(1)),
            "codes have the shape of the numbers, scales that of scales");
    return [=](const Call& call) {
        const bool keep = call.in(1)[0] != 0;
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            float scale = 0;
            for (std::int64_t i = b * blocks.size; i < (b + 1) * blocks.size; ++i) {
                scale = std::max(scale, std::abs(static_cast<float>(call.in(0)[i])));
            }
            for (std::int64_t i = b * blocks.size; i < (b + 1) * blocks.size; ++i) {
                const float share = scale > 0 ? static_cast<float>(call.in(0)[i]) / scale : 0.0F;
                call.out(0)[i] = keep ? call.in(2)[i] : eight_bit_code(share, blocks.values);
            }
            call.out(1)[b] = keep ? call.in(3)[b] : static_cast<double>(scale);
        }
        return WEFT_OK;
    };
}

Body make_dequantize(const Op& op) { // codes, scales -> numbers
    const Blocks blocks = blocks_of(op, op.input(0), op.input(1));
    require(same_shape(op.input(0), op.output(0)), "numbers have the shape of the codes");
    return [=](const Call& call) {
        for (std::int64_t i = 0; i < blocks.count * blocks.size; ++i) {
            const auto code = static_cast<std::size_t>(call.in(0)[i]);
            call.out(0)[i] = static_cast<double>(blocks.values[code] *
                                                 static_cast<float>(call.in(1)[i / blocks.size]));
        }
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
