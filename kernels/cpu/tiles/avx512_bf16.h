// SPDX-License-Identifier: Apache-2.0
// What the files of this folder need to write AVX-512 BF16 code that is called only on machines
// that have it. No lambdas in such functions: they would not inherit the instruction set.
#pragma once

#include "kernels/cpu/loops/simd.h"

// The intrinsics of g++ 12 build their results on deliberately uninitialised registers.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#define WEFT_AVX512_BF16                                                                           \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma")))

namespace weft::kernels::cpu {

inline constexpr float kLog2E = 1.44269504f;

/// The first `count` lanes, 0 to 16.
WEFT_INLINE std::uint16_t lanes(std::int64_t count) {
    return count >= 16  ? std::uint16_t{0xffff}
           : count <= 0 ? std::uint16_t{0}
                        : static_cast<std::uint16_t>((1u << count) - 1u);
}

/// bf16(high) << 16 | bf16(low) in each lane, rounded to nearest even.
WEFT_AVX512_BF16 WEFT_INLINE __m512i pair_of(__m512 low, __m512 high) {
    const __m512i upper =
        _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(high)));
    const __m512i lower = _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(low)));
    return _mm512_or_si512(_mm512_slli_epi32(upper, 16), lower);
}

/// 2^x with a relative error below 2e-7 (Taylor series of e^r to r^6 / 6!); 0 below -126, NaN of
/// NaN.
WEFT_AVX512_BF16 WEFT_INLINE __m512 power_of_two_512(__m512 x) {
    const __m512 limited = _mm512_max_ps(_mm512_set1_ps(-200.0f), x);
    const __m512 whole = _mm512_roundscale_ps(limited, _MM_FROUND_TO_NEAREST_INT);
    const __m512 r = _mm512_mul_ps(_mm512_sub_ps(limited, whole), _mm512_set1_ps(0.693147181f));
    __m512 p = _mm512_set1_ps(1.0f / 720.0f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 120.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 24.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 6.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, whole);
}

/// The transposed block of 16 by 16 lanes, in place.
WEFT_AVX512_BF16 WEFT_INLINE void turn_16(__m512i (&r)[16]) {
    __m512i t[16];
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for (int i = 0; i < 4; ++i) {
        t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
    }
    for (int i = 0; i < 8; ++i) {
        r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
        r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    }
}

} // namespace weft::kernels::cpu
