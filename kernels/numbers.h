// SPDX-License-Identifier: Apache-2.0
// Conversion between stored element types, for kernels and for whoever reads arrays. bf16 is the
// upper half of an f32, rounded to nearest even; f16 is IEEE 754 binary16, which files of others
// hold.
#pragma once

#include <bit>
#include <cstdint>

namespace weft::kernels {

/// Storage type of bf16; arithmetic happens in float.
struct bf16 {
    std::uint16_t bits;
};

/// Storage type of f16: read, never written.
struct f16 {
    std::uint16_t bits;
};

inline float to_float(float value) {
    return value;
}
/// Exact.
inline float to_float(f16 value) {
    const std::uint32_t sign = std::uint32_t{value.bits & 0x8000u} << 16;
    const std::uint32_t exponent = (value.bits >> 10) & 31;
    const std::uint32_t mantissa = value.bits & 1023;
    if (exponent == 31) {
        return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
    }
    if (exponent != 0) {
        return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
    }
    // A denormal is mantissa * 2^-24, which f32 holds.
    const float size = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | sign);
}
inline float to_float(bf16 value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// Nearest even; NaN stays NaN (the plain addition could carry it into infinity). Both results and
/// a choice, rather than a branch: so that loops over it are vectorised.
inline bf16 to_bf16(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return {static_cast<std::uint16_t>((is_nan ? bits | 0x400000u : rounded) >> 16)};
}

inline float round_to_bf16(float value) {
    return to_float(to_bf16(value));
}

template <class T>
T from_float(float value);
template <>
inline float from_float<float>(float value) {
    return value;
}
template <>
inline bf16 from_float<bf16>(float value) {
    return to_bf16(value);
}

} // namespace weft::kernels
