// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/loops/exp_runs.h"

#include "kernels/cpu/loops/simd.h"
#include "kernels/cpu/vectors/avx512.h"

#include <algorithm>

namespace weft::kernels::cpu {
namespace {

// As the compiler makes it, for any machine.

template <class T>
WEFT_VECTOR float sum_anywhere(const T* x, float shift, std::int64_t count) {
    return blocked_sum(count, [=](std::int64_t i)
                                  WEFT_INLINE_LAMBDA { return exp_f(to_float(x[i]) - shift); });
}

WEFT_VECTOR float exp_anywhere(const float* from, float shift, float* to, std::int64_t count) {
    return blocked_sum(count, [=](std::int64_t i) WEFT_INLINE_LAMBDA {
        const float value = exp_f(from[i] - shift);
        to[i] = value;
        return value;
    });
}

template <class T, class Out>
WEFT_VECTOR void scaled_anywhere(const T* x, float shift, float factor, float floor, Out* out,
                                 std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = from_float<Out>(factor * (exp_f(to_float(x[i]) - shift) - floor));
    }
}

// Half as many instructions.

constexpr std::int64_t kRun = 256; // summed in f32; the sums of runs in double

/// `to` null: only the sum.
template <class T>
WEFT_AVX512 float exp_wide(const T* x, float shift, float* to, std::int64_t count) {
    const __m512 less = _mm512_set1_ps(shift);
    double total = 0.0;
    for (std::int64_t start = 0; start < count; start += kRun) {
        const std::int64_t end = std::min(start + kRun, count);
        __m512 sums[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
        for (std::int64_t i = start; i < end; i += 32) {
#pragma GCC unroll 2
            for (int half = 0; half < 2; ++half) {
                const std::int64_t at = i + 16 * half;
                const __mmask16 there = lanes(end - at);
                const __m512 e = exp_512(_mm512_sub_ps(load_512(x + at, there), less));
                sums[half] = _mm512_mask_add_ps(sums[half], there, sums[half], e);
                if (to != nullptr) {
                    store_512(to + at, there, e);
                }
            }
        }
        total += static_cast<double>(_mm512_reduce_add_ps(_mm512_add_ps(sums[0], sums[1])));
    }
    return static_cast<float>(total);
}

template <class T, class Out>
WEFT_AVX512 void scaled_wide(const T* x, float shift, float factor, float floor, Out* out,
                             std::int64_t count) {
    const __m512 less = _mm512_set1_ps(shift);
    const __m512 times = _mm512_set1_ps(factor);
    const __m512 below = _mm512_set1_ps(floor);
    for (std::int64_t i = 0; i < count; i += 16) {
        const __mmask16 there = lanes(count - i);
        const __m512 e = exp_512(_mm512_sub_ps(load_512(x + i, there), less));
        store_512(out + i, there, _mm512_mul_ps(times, _mm512_sub_ps(e, below)));
    }
}

} // namespace

template <class T>
float sum_of_exp(const T* x, float shift, std::int64_t count) {
    return machine_has_avx512() ? exp_wide(x, shift, nullptr, count)
                                : sum_anywhere(x, shift, count);
}

float exp_run(const float* from, float shift, float* to, std::int64_t count) {
    return machine_has_avx512() ? exp_wide(from, shift, to, count)
                                : exp_anywhere(from, shift, to, count);
}

template <class T, class Out>
void scaled_exp_run(const T* x, float shift, float factor, float floor, Out* out,
                    std::int64_t count) {
    machine_has_avx512() ? scaled_wide(x, shift, factor, floor, out, count)
                         : scaled_anywhere(x, shift, factor, floor, out, count);
}

template float sum_of_exp(const float*, float, std::int64_t);
template float sum_of_exp(const bf16*, float, std::int64_t);
template void scaled_exp_run(const float*, float, float, float, float*, std::int64_t);
template void scaled_exp_run(const float*, float, float, float, bf16*, std::int64_t);
template void scaled_exp_run(const bf16*, float, float, float, float*, std::int64_t);
template void scaled_exp_run(const bf16*, float, float, float, bf16*, std::int64_t);

} // namespace weft::kernels::cpu
