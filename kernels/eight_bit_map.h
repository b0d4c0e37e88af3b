// SPDX-License-Identifier: Apache-2.0
// Numbers from -1 to 1, or from 0, in eight bits (Dettmers et al. 2022, "8-bit Optimizers via
// Block-wise Quantization", the dynamic map): seven decades up to 1, each with twice as many values
// as the one below, in the middles of equal parts of it; 0; and 1. Codes rise with their values.
// Products and exact quotients alone make them: every device has the same bits.
#pragma once

#include "kernels/host_device.h"

namespace weft::kernels {

constexpr int kEightBitCodes = 256;

/// The value of a code, 0 to 255.
WEFT_HOST_DEVICE constexpr float eight_bit_value(int code, bool has_sign) {
    const int place = has_sign ? code - 127 : code;
    const int magnitude = place < 0 ? -place : place;
    if (magnitude == 0) {
        return 0.0F;
    }
    if (place == (has_sign ? 128 : 255)) {
        return 1.0F;
    }
    const int item = has_sign ? magnitude : magnitude + 1;
    int parts = has_sign ? 1 : 2; // of the decade, which the item's highest bit says
    float unit = 1e-7F;
    while (item >= 2 * parts) {
        parts *= 2;
        unit *= 10.0F;
    }
    const int twice = 2 * (item - parts) + 1; // the middle of a part
    const float value =
        static_cast<float>(2 * parts + 9 * twice) / static_cast<float>(2 * parts) * unit;
    return place < 0 ? -value : value;
}

/// The code whose value is nearest, of two the lower one; `values` are those of all codes.
template <class Values>
WEFT_HOST_DEVICE int eight_bit_code(float value, const Values& values) {
    int code = 0;
    for (int step = kEightBitCodes / 2; step > 0; step /= 2) {
        const float middle = (values[code + step - 1] + values[code + step]) * 0.5F;
        code += value > middle ? step : 0;
    }
    return code;
}

} // namespace weft::kernels
