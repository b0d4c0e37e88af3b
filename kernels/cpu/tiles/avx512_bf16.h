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
    const __m512i order =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(order,
                                    reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
}

/// 2^x with a relative error below 2e-7; 0 below -126 where denormal numbers are zero, NaN of NaN.
/// 2^floor(x) times a polynomial in the rest r, 0 <= r < 1: 1 + the five terms with the least
/// relative error (8.2e-8 before rounding; a linear program over 4,001 Chebyshev points).
WEFT_AVX512_BF16 WEFT_INLINE __m512 power_of_two_512(__m512 x) {
    const __m512 r = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    __m512 p = _mm512_set1_ps(0.0018671314f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.009017025f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.05579992f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.24016444f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.6931513f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, x);
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
