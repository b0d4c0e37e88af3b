// SPDX-License-Identifier: Apache-2.0
// Conversion between stored element types, for kernels and for whoever reads arrays. bf16 is the
// upper half of an f32, f16 is IEEE 754 binary16; both are rounded to nearest even. Conversions
// compute both results of a choice rather than branch, so that loops over them are vectorised.
#pragma once

#include <bit>
#include <cstdint>

namespace weft::kernels {

/// Storage type of bf16; arithmetic happens in float.
struct bf16 {
    std::uint16_t bits;
};

/// Storage type of f16; arithmetic happens in float.
struct f16 {
    std::uint16_t bits;
};

inline float to_float(float value) {
    return value;
}
/// Exact, denormals too: those are normal numbers of f32.
[[gnu::always_inline]] inline float to_float(f16 value) {
    const std::uint32_t sign = std::uint32_t{value.bits & 0x8000u} << 16;
    const std::uint32_t size = value.bits & 0x7fffu;
    const std::uint32_t lifted = (size << 13) + (size < 0x7c00u ? 112u << 23 : 224u << 23);
    const float denormal = static_cast<float>(static_cast<std::int32_t>(size)) * 0x1p-24f;
    const std::uint32_t bits = size < 0x400u ? std::bit_cast<std::uint32_t>(denormal) : lifted;
    return std::bit_cast<float>(bits | sign);
}
inline float to_float(bf16 value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// NaN stays NaN (the plain addition could carry it into infinity).
inline bf16 to_bf16(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return {static_cast<std::uint16_t>((is_nan ? bits | 0x400000u : rounded) >> 16)};
}

inline float round_to_bf16(float value) {
    return to_float(to_bf16(value));
}

/// From 65520 on it is infinite. Denormals are what is left of a sum whose units are theirs.
[[gnu::always_inline]] inline f16 to_f16(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t size = bits & 0x7fffffffu;
    const std::uint32_t rounded = (size - (112u << 23) + 0xfffu + ((size >> 13) & 1u)) >> 13;
    const float sum = std::bit_cast<float>(size) + 0.5f; // 2^-24 is the unit in its last place
    const std::uint32_t denormal = std::bit_cast<std::uint32_t>(sum) - 0x3f000000u;
    const std::uint32_t finite = size < 0x38800000u ? denormal : rounded;
    const std::uint32_t large = size > 0x7f800000u ? 0x7e00u : 0x7c00u;
    return {static_cast<std::uint16_t>((size < 0x477ff000u ? finite : large) |
                                       ((bits >> 16) & 0x8000u))};
}

[[gnu::always_inline]] inline float round_to_f16(float value) {
    return to_float(to_f16(value));
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
template <>
inline f16 from_float<f16>(float value) {
    return to_f16(value);
}

} // namespace weft::kernels
