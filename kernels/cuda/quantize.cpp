// SPDX-License-Identifier: Apache-2.0
// Blocks of numbers as eight-bit codes (kernels/eight_bit_map.h) and a scale. A warp works on a
// block at a time; the values of all codes are shared.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/launch.h"
#include "kernels/eight_bit_map.h"

namespace weft::kernels::cuda {

struct BlockShape {
    i64 blocks, size;
    int has_sign;
};

template <class Values>
WEFT_DEVICE void share_values(int has_sign, Values& values) {
    for (int code = thread(); code < kEightBitCodes; code += threads()) {
        values[code] = eight_bit_value(code, has_sign != 0);
    }
    barrier();
}

WEFT_KERNEL quantize_blocks(const BlockShape s, const float* x, const float* keep,
                            const unsigned char* old_codes, const float* old_scales,
                            unsigned char* codes, float* scales) {
    WEFT_SHARED(float, values, kEightBitCodes);
    share_values(s.has_sign, values);
    const int lane = thread() % kWarp;
    const i64 warps = threads() / kWarp;
    const bool kept = keep[0] != 0.0f;
    for (i64 b = block() * warps + thread() / kWarp; b < s.blocks; b += blocks() * warps) {
        const i64 first = b * s.size;
        float scale = 0.0f;
        for (i64 i = lane; i < s.size; i += kWarp) {
            const float size = fabsf(x[first + i]);
            scale = size > scale ? size : scale;
        }
        for (int distance = kWarp / 2; distance > 0; distance /= 2) {
            const float other = shuffle_xor(scale, distance);
            scale = other > scale ? other : scale;
        }
        for (i64 i = lane; i < s.size; i += kWarp) {
            const float share = scale > 0.0f ? x[first + i] / scale : 0.0f;
            codes[first + i] = kept ? old_codes[first + i]
                                    : static_cast<unsigned char>(eight_bit_code(share, values));
        }
        if (lane == 0) {
            scales[b] = kept ? old_scales[b] : scale;
        }
    }
}

WEFT_KERNEL dequantize_blocks(const BlockShape s, const unsigned char* codes, const float* scales,
                              float* x) {
    WEFT_SHARED(float, values, kEightBitCodes);
    share_values(s.has_sign, values);
    for (i64 i = block() * threads() + thread(); i < s.blocks * s.size; i += blocks() * threads()) {
        x[i] = values[codes[i]] * scales[i / s.size];
    }
}

namespace {

BlockShape block_shape(const Op& op, const Type& numbers, const Type& codes, const Type& scales) {
    const BlockShape out{element_count(scales), op.integer("block"), op.flag("has_sign") ? 1 : 0};
    require(out.size > 0 && out.blocks * out.size == element_count(numbers),
            "there is not one scale per block");
    require(same_shape(numbers, codes), "codes have the shape of the numbers");
    want_dtype(numbers, WEFT_F32);
    want_dtype(scales, WEFT_F32);
    if (codes.dtype != WEFT_U8) {
        unsupported("codes in bytes only");
    }
    return out;
}

} // namespace

Made make_quantize(const Op& op) { // numbers, keep, codes, scales -> codes, scales
    const BlockShape s = block_shape(op, op.input(0), op.output(0), op.output(1));
    require(same_shape(op.input(0), op.input(2)) && same_shape(op.input(3), op.output(1)),
            "what may be kept has another shape");
    require(element_count(op.input(1)) == 1, "what says whether to keep is one number");
    want_dtype(op.input(1), WEFT_F32);
    return launches([=](const Run& run) {
        run.launch(grid_over(s.blocks * kWarp), quantize_blocks, s,
                   static_cast<const float*>(run.in(0)), static_cast<const float*>(run.in(1)),
                   static_cast<const unsigned char*>(run.in(2)),
                   static_cast<const float*>(run.in(3)), static_cast<unsigned char*>(run.out(0)),
                   static_cast<float*>(run.out(1)));
    });
}

Made make_dequantize(const Op& op) { // codes, scales -> numbers
    const BlockShape s = block_shape(op, op.output(0), op.input(0), op.input(1));
    return launches([=](const Run& run) {
        run.launch(grid_over(s.blocks * s.size), dequantize_blocks, s,
                   static_cast<const unsigned char*>(run.in(0)),
                   static_cast<const float*>(run.in(1)), static_cast<float*>(run.out(0)));
    });
}

} // namespace weft::kernels::cuda
