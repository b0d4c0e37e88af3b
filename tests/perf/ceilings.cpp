// SPDX-License-Identifier: Apache-2.0
#include "tests/perf/ceilings.h"

#include <immintrin.h>
#include <omp.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace weft::bench {
namespace {

volatile float g_sink; // keeps results alive

typedef float Vector __attribute__((vector_size(64)));
constexpr int kLoops = 200000;

__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) float fma_loop() {
    Vector sum[10] = {};
    for (int k = 0; k < 10; ++k) {
        sum[k] += static_cast<float>(k); // ten chains that the compiler cannot merge
    }
    Vector factor = {};
    factor += 0.999f;
    for (int i = 0; i < kLoops; ++i) {
#pragma GCC unroll 10
        for (int k = 0; k < 10; ++k) {
            sum[k] = sum[k] * factor + factor;
        }
    }
    for (int k = 1; k < 10; ++k) {
        sum[0] += sum[k];
    }
    return sum[0][0];
}

__attribute__((target("avx512f,avx512bf16"))) float bf16_loop() {
    __m512 sum[10];
    for (int k = 0; k < 10; ++k) {
        sum[k] = _mm512_set1_ps(static_cast<float>(k));
    }
    const __m512 ones = _mm512_set1_ps(1.0f);
    __m512bh factor;
    std::memcpy(&factor, &ones, sizeof factor);
    for (int i = 0; i < kLoops; ++i) {
#pragma GCC unroll 10
        for (int k = 0; k < 10; ++k) {
            sum[k] = _mm512_dpbf16_ps(sum[k], factor, factor);
        }
    }
    for (int k = 1; k < 10; ++k) {
        sum[0] = _mm512_add_ps(sum[0], sum[k]);
    }
    float first = 0;
    std::memcpy(&first, &sum[0], sizeof first);
    return first;
}

template <class Fn>
double gflops_of(const Fn& fn, double flops) {
    return omp_get_max_threads() * flops / 1e9 / best_seconds([&] {
#pragma omp parallel
               g_sink = fn();
           });
}

} // namespace

Ceilings measure_ceilings() {
    constexpr std::int64_t kSize = 1 << 25; // 128 MiB: beyond the caches
    std::vector<float> a(kSize, 1.0f);
    std::vector<float> b(kSize, 2.0f);
    Ceilings c{};
    c.f32_gflops = gflops_of(fma_loop, 2.0 * 16 * 10 * kLoops);
    c.bf16_gflops = __builtin_cpu_supports("avx512bf16")
                        ? gflops_of(bf16_loop, 4.0 * 16 * 10 * kLoops)
                        : c.f32_gflops;
    c.copy_gbs = 8.0 * kSize / 1e9 / best_seconds([&] {
#pragma omp parallel for simd
                     for (std::int64_t i = 0; i < kSize; ++i) {
                         b[static_cast<std::size_t>(i)] = a[static_cast<std::size_t>(i)];
                     }
                 });
    c.update_gbs = 8.0 * kSize / 1e9 / best_seconds([&] {
#pragma omp parallel for simd
                       for (std::int64_t i = 0; i < kSize; ++i) {
                           b[static_cast<std::size_t>(i)] *= 1.0001f;
                       }
                   });
    return c;
}

} // namespace weft::bench
