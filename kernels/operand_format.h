// SPDX-License-Identifier: Apache-2.0
// What a product rounds its operands to before it multiplies them (attribute `operands`), read once
// for every back end.
#pragma once

#include "kernels/op.h"

namespace weft::kernels {

/// Significant bits behind the first, exponent of the smallest normal number, largest number.
struct NumberFormat {
    const char* name;
    int fraction_bits;
    int smallest_exponent;
    double largest;
    bool scaled; // an operand is first multiplied by a power of two that uses the whole range
};

/// Operands as they are stored.
inline constexpr NumberFormat kAsStored{"", 0, 0, 0, false};
/// f32 with the fraction of f16: what the matrix units of GPUs read of f32.
inline constexpr NumberFormat kTf32{"tf32", 10, -126, 0x1.ffcp127, false};
/// Micikevicius et al., "FP8 formats for deep learning" (2022), table 1. No infinity in e4m3.
inline constexpr NumberFormat kE4m3{"e4m3", 3, -6, 448, true};
inline constexpr NumberFormat kE5m2{"e5m2", 2, -14, 57344, true};

struct OperandFormats {
    const NumberFormat* x;
    const NumberFormat* y;
    bool scaled() const { return x->scaled; }
};

/// "", "tf32", or "e4m3 e5m2" for x and y. Throws BAD_ARGUMENT for anything else.
OperandFormats operand_formats(const Op& op);

/// The exponent of the largest power of two that keeps `largest_size` times it within the format;
/// 0 where there is nothing to scale. The operand's own exponents are between -126 and 127.
int scale_exponent(const NumberFormat& format, double largest_size);

} // namespace weft::kernels
