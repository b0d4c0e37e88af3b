// SPDX-License-Identifier: Apache-2.0
// Vector code without intrinsics: loops marked WEFT_VECTOR are compiled for three instruction sets
// and chosen by the loader, so one binary runs anywhere and is fast on AVX-512. Such a loop must be
// a function of its own, called from inside a parallel region (the region's body is outlined and
// would not be cloned). What it calls must be WEFT_INLINE.
#pragma once

#include <bit>
#include <cstdint>

// Sanitizers instrument the resolvers of the clones, which run before their run time is ready.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WEFT_VECTOR
#else
#define WEFT_VECTOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#define WEFT_INLINE inline __attribute__((always_inline))
#define WEFT_INLINE_LAMBDA __attribute__((always_inline))

namespace weft::kernels::cpu {

/// Asks memory for a row that is read soon: what lies apart is not foreseen by the processor, and
/// what lies in one stream is fetched too late by it for a core that does little with it.
template <class T>
WEFT_INLINE void fetch_row(const T* row, std::int64_t width) {
    constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < width; i += kLine) {
        __builtin_prefetch(row + i);
    }
}

/// Sum of term(0) .. term(count - 1): runs of 256 in float, their sums in double, so that the error
/// does not grow with the count however wide the vectors are. `term` must be always_inline.
template <class Term>
WEFT_INLINE float blocked_sum(std::int64_t count, const Term& term) {
    double total = 0.0;
    for (std::int64_t start = 0; start < count; start += 256) {
        const std::int64_t end = start + 256 < count ? start + 256 : count;
        float part = 0.0f;
#pragma omp simd reduction(+ : part)
        for (std::int64_t i = start; i < end; ++i) {
            part += term(i);
        }
        total += static_cast<double>(part);
    }
    return static_cast<float>(total);
}

/// Nearest integer as a float, |x| < 2^22: adding 1.5 * 2^23 pushes the fraction out of the
/// mantissa.
WEFT_INLINE float nearest(float x) {
    return (x + 12582912.0f) - 12582912.0f;
}

/// 2^n for n in -126..127.
WEFT_INLINE float power_of_two(std::int32_t n) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23);
}

/// e^r - 1 for |r| <= ln(2) / 2: Taylor series to r^7 / 7!, truncation below 6e-9.
WEFT_INLINE float exp_minus_one_small(float r) {
    float p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    return p * r * r + r;
}

/// e^x with a relative error below 2e-7; 0 below -87.3 (no denormals), infinity above 88.72.
WEFT_INLINE float exp_f(float x) {
    const float clamped = x < -87.3f ? -87.3f : x > 89.0f ? 89.0f : x;
    const float n = nearest(clamped * 1.44269504f);
    // ln(2) in two parts, the first with few bits, so that n * high is exact.
    const float r = (clamped - n * 0.693359375f) - n * -2.12194440e-4f;
    const auto whole = static_cast<std::int32_t>(n);
    const std::int32_t half = whole >> 1; // two factors, since 2^128 is not a float
    const float value =
        (exp_minus_one_small(r) + 1.0f) * power_of_two(half) * power_of_two(whole - half);
    return x < -87.3f ? 0.0f : value;
}

/// ln x with a relative error below 2e-7: ln(2^e m) = e ln 2 + 2 atanh((m - 1) / (m + 1)).
WEFT_INLINE float log_f(float x) {
    const bool tiny = x < 1.17549435e-38f;
    const float normal = tiny ? x * 8388608.0f : x;
    const auto bits = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(normal));
    // Exponent such that the mantissa lies in [sqrt(1/2), sqrt(2)).
    const std::int32_t e = (bits - 0x3f3504f3) >> 23;
    const float m = std::bit_cast<float>(static_cast<std::uint32_t>(bits - (e << 23)));
    const float s = (m - 1.0f) / (m + 1.0f);
    const float z = s * s;
    float p = 2.0f / 11.0f;
    p = p * z + 2.0f / 9.0f;
    p = p * z + 2.0f / 7.0f;
    p = p * z + 2.0f / 5.0f;
    p = p * z + 2.0f / 3.0f;
    const float count = static_cast<float>(e) - (tiny ? 23.0f : 0.0f);
    const float value = count * 0.693359375f + (2.0f * s + (s * z * p + count * -2.12194440e-4f));
    const float infinity = std::bit_cast<float>(0x7f800000u);
    const float nan = std::bit_cast<float>(0x7fc00000u);
    const float ordinary = x == infinity ? infinity : value;
    return x > 0.0f ? ordinary : x == 0.0f ? -infinity : nan;
}

/// sign(x) ln(1 + |x|) with a relative error below 4e-7; what rounding takes off 1 + |x| is put
/// back as a factor (Higham 2002, problem 1.5).
WEFT_INLINE float symlog_f(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const float size = std::bit_cast<float>(bits & 0x7fffffffu);
    const float sum = 1.0f + size;
    const float kept = sum - 1.0f;
    const float factor = kept == size ? 1.0f : size / kept; // of infinity too
    const float value = kept == 0.0f ? size : log_f(sum) * factor;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | (bits & 0x80000000u));
}

/// tanh x with a relative error below 1e-6.
WEFT_INLINE float tanh_f(float x) {
    const float y = 2.0f * (x < 0.0f ? -x : x);
    const float limited = y < 0.34f ? y : 0.34f;
    const float q = exp_minus_one_small(limited);
    const float near_zero = q / (q + 2.0f);
    const float far = 1.0f - 2.0f / (exp_f(y) + 1.0f);
    const float magnitude = y < 0.34f ? near_zero : far;
    return x < 0.0f ? -magnitude : magnitude;
}

/// The arctangent of 0 <= t <= 1 with a relative error below 3e-7: above tan(pi / 8) it is that of
/// (t - 1) / (t + 1) and pi / 4. Taylor series to t^17, truncation below 1e-8.
WEFT_INLINE float atan_f(float t) {
    const bool far = t > 0.414213562f;
    const float r = far ? (t - 1.0f) / (t + 1.0f) : t;
    const float z = r * r;
    float p = 1.0f / 17.0f;
    p = p * z - 1.0f / 15.0f;
    p = p * z + 1.0f / 13.0f;
    p = p * z - 1.0f / 11.0f;
    p = p * z + 1.0f / 9.0f;
    p = p * z - 1.0f / 7.0f;
    p = p * z + 1.0f / 5.0f;
    p = p * z - 1.0f / 3.0f;
    return (far ? 0.785398163f : 0.0f) + (p * z * r + r);
}

/// The angle of the point (x, y) in -pi..pi with a relative error below 4e-7; 0 at the origin on
/// the side of x >= 0. The sign of a zero counts, as in C.
WEFT_INLINE float atan2_f(float y, float x) {
    const auto y_bits = std::bit_cast<std::uint32_t>(y);
    const auto x_bits = std::bit_cast<std::uint32_t>(x);
    const float height = std::bit_cast<float>(y_bits & 0x7fffffffu);
    const float width = std::bit_cast<float>(x_bits & 0x7fffffffu);
    const bool steep = height > width;
    const float less = steep ? width : height;
    const float more = steep ? height : width;
    const float ratio = less == more ? 1.0f : less / more; // two infinities are a diagonal
    float angle = more == 0.0f ? 0.0f : atan_f(ratio);
    angle = steep ? 1.57079633f - angle : angle;
    angle = (x_bits >> 31) != 0 ? 3.14159265f - angle : angle;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(angle) | (y_bits & 0x80000000u));
}

WEFT_INLINE float sigmoid_f(float x) {
    return 1.0f / (1.0f + exp_f(-x));
}

/// The normal distribution function with an absolute error below 2e-7: Abramowitz and
/// Stegun 7.1.26.
WEFT_INLINE float normal_distribution_f(float x) {
    const float z = (x < 0.0f ? -x : x) * 0.707106781f;
    const float t = 1.0f / (1.0f + 0.3275911f * z);
    float p = 1.061405429f;
    p = p * t - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    const float tail = 0.5f * p * t * exp_f(-z * z);
    return x < 0.0f ? tail : 1.0f - tail;
}

} // namespace weft::kernels::cpu
