// SPDX-License-Identifier: Apache-2.0
// For code that only machines with AVX-512 run. No lambdas in functions that are marked
// WEFT_AVX512: they would not inherit the instruction set.
#pragma once

#include "kernels/cpu/loops/simd.h"
#include "kernels/numbers.h"

// The intrinsics of g++ 12 build their results on deliberately uninitialised registers.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#define WEFT_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,fma")))

namespace weft::kernels::cpu {

/// Whether this machine runs code that is marked WEFT_AVX512, and oneDNN may use it
/// (ONEDNN_MAX_CPU_ISA: how to run as a processor without it).
bool machine_has_avx512();

inline constexpr float kLog2E = 1.44269504f;

/// The first `count` lanes, 0 to 16.
WEFT_INLINE std::uint16_t lanes(std::int64_t count) {
    return count >= 16  ? std::uint16_t{0xffff}
           : count <= 0 ? std::uint16_t{0}
                        : static_cast<std::uint16_t>((1u << count) - 1u);
}

/// The `there` lanes as floats, the others 0.
WEFT_AVX512 WEFT_INLINE __m512 load_512(const float* from, __mmask16 there) {
    return _mm512_maskz_loadu_ps(there, from);
}
WEFT_AVX512 WEFT_INLINE __m512 load_512(const bf16* from, __mmask16 there) {
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, from)), 16));
}

WEFT_AVX512 WEFT_INLINE void store_512(float* to, __mmask16 there, __m512 values) {
    _mm512_mask_storeu_ps(to, there, values);
}
/// Rounded to nearest even; NaN stays NaN.
WEFT_AVX512 WEFT_INLINE void store_512(bf16* to, __mmask16 there, __m512 values) {
    const __m512i bits = _mm512_castps_si512(values);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    const __mmask16 nans = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
    const __m512i kept = _mm512_mask_or_epi32(rounded, nans, bits, _mm512_set1_epi32(0x400000));
    _mm256_mask_storeu_epi16(to, there, _mm512_cvtepi32_epi16(_mm512_srli_epi32(kept, 16)));
}

/// 2^x with a relative error below 2e-7; 0 below -126 where denormal numbers are zero, NaN of NaN.
/// 2^floor(x) times a polynomial in the rest r, 0 <= r < 1: 1 + the five terms with the least
/// relative error (8.2e-8 before rounding; a linear program over 4,001 Chebyshev points).
WEFT_AVX512 WEFT_INLINE __m512 power_of_two_512(__m512 x) {
    const __m512 r = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    __m512 p = _mm512_set1_ps(0.0018671314f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.009017025f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.05579992f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.24016444f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.6931513f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, x);
}

/// e^x with a relative error below 3e-7; 0 below -87.3 (no denormals), infinity above 88.72, NaN of
/// NaN. As exp_f (loops/simd.h).
WEFT_AVX512 WEFT_INLINE __m512 exp_512(__m512 x) {
    const __m512 limited = _mm512_min_ps(_mm512_set1_ps(89.0f), x); // NaN, if it is the second
    const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(limited, _mm512_set1_ps(kLog2E)),
                                          _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    // ln(2) in two parts, the first with few bits, so that n * high is exact.
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), limited);
    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
    __m512 p = _mm512_set1_ps(1.0f / 5040.0f); // Taylor series, |r| <= ln(2) / 2
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 720.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 120.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 24.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 6.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    const __mmask16 tiny = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-87.3f), _CMP_LT_OQ);
    return _mm512_mask_mov_ps(_mm512_scalef_ps(p, n), tiny, _mm512_setzero_ps());
}

/// 1 / (1 + e^-2u) with u = sqrt(2 / pi) (x + 0.044715 x^3): gelu(x) is x times it.
WEFT_AVX512 WEFT_INLINE __m512 gelu_share_512(__m512 x) {
    constexpr float kFactor = -2 * 0.797884561f * kLog2E;
    const __m512 inner = _mm512_fmadd_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(0.044715f * kFactor),
                                         _mm512_set1_ps(kFactor));
    const __m512 one = _mm512_set1_ps(1.0f);
    const __m512 power =
        power_of_two_512(_mm512_min_ps(_mm512_set1_ps(126.0f), _mm512_mul_ps(x, inner)));
    return _mm512_div_ps(one, _mm512_add_ps(one, power));
}

/// gelu'(x); with s the share: s + 2 x s (1 - s) u'.
WEFT_AVX512 WEFT_INLINE __m512 gelu_slope_512(__m512 x) {
    constexpr float kTwice = 2 * 0.797884561f;
    const __m512 share = gelu_share_512(x);
    const __m512 slope = _mm512_fmadd_ps(
        _mm512_mul_ps(x, x), _mm512_set1_ps(3 * 0.044715f * kTwice), _mm512_set1_ps(kTwice));
    const __m512 rest = _mm512_fnmadd_ps(share, share, share);
    return _mm512_fmadd_ps(_mm512_mul_ps(x, rest), slope, share);
}

/// The transposed block of 16 by 16 lanes, in place.
WEFT_AVX512 WEFT_INLINE void turn_16(__m512i (&r)[16]) {
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
