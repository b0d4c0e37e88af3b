// SPDX-License-Identifier: Apache-2.0
// Conversion between stored element types. bf16 is the upper half of an f32, rounded to nearest
// even.
#pragma once

#include <bit>
#include <cstdint>

namespace weft::kernels {

/// Storage type of bf16; arithmetic happens in float.
struct bf16 {
    std::uint16_t bits;
};

inline float to_float(float value) {
    return value;
}
inline float to_float(bf16 value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// Nearest even; NaN stays NaN (the plain addition could carry it into infinity).
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
