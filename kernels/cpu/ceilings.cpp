// SPDX-License-Identifier: Apache-2.0
// What the cores can do at best: loops that do nothing else, on the whole team. Compute loops keep
// everything in registers; the memory loop is a sweep of an optimizer over arrays larger than any
// cache.
#include "kernels/backend.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/simd.h"
#include "kernels/cpu/tiles/matrix_tiles.h"
#include "kernels/weft_kernels.h"

#include <cpuid.h>
#include <immintrin.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace weft::kernels::cpu {
namespace {

constexpr double kSeconds = 0.15; // per figure
constexpr int kLoops = 40000;
constexpr int kChains = 12; // independent sums: enough to hide the latency of two units

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Fastest of several calls, in seconds.
template <class Fn>
double best_seconds(const Fn& fn) {
    fn();
    double best = std::numeric_limits<double>::max();
    const double end = now() + kSeconds;
    do {
        const double start = now();
        fn();
        best = std::min(best, now() - start);
    } while (now() < end);
    return best;
}

/// FLOP/s of a loop that every thread runs and that makes `flops` of them.
double rate_of(float (*loop)(), double flops) {
    volatile float sink = 0;
    const double seconds = best_seconds([&] {
#pragma omp parallel
        {
            const float result = loop();
#pragma omp critical
            sink = result;
        }
    });
    return team_size() * flops / seconds;
}

__attribute__((target("avx512f"))) float fma_avx512() {
    __m512 sum[kChains];
    for (int k = 0; k < kChains; ++k) {
        sum[k] = _mm512_set1_ps(static_cast<float>(k));
    }
    const __m512 factor = _mm512_set1_ps(0.999f);
    for (int i = 0; i < kLoops; ++i) {
#pragma GCC unroll 12
        for (int k = 0; k < kChains; ++k) {
            sum[k] = _mm512_fmadd_ps(sum[k], factor, factor);
        }
    }
    for (int k = 1; k < kChains; ++k) {
        sum[0] = _mm512_add_ps(sum[0], sum[k]);
    }
    return _mm512_cvtss_f32(sum[0]);
}

__attribute__((target("avx2,fma"))) float fma_avx2() {
    __m256 sum[kChains];
    for (int k = 0; k < kChains; ++k) {
        sum[k] = _mm256_set1_ps(static_cast<float>(k));
    }
    const __m256 factor = _mm256_set1_ps(0.999f);
    for (int i = 0; i < kLoops; ++i) {
#pragma GCC unroll 12
        for (int k = 0; k < kChains; ++k) {
            sum[k] = _mm256_fmadd_ps(sum[k], factor, factor);
        }
    }
    for (int k = 1; k < kChains; ++k) {
        sum[0] = _mm256_add_ps(sum[0], sum[k]);
    }
    return _mm256_cvtss_f32(sum[0]);
}

// Without fused instructions a multiply and an add are two.
float multiply_add_sse() {
    __m128 sum[kChains];
    for (int k = 0; k < kChains; ++k) {
        sum[k] = _mm_set1_ps(static_cast<float>(k));
    }
    const __m128 factor = _mm_set1_ps(0.999f);
    for (int i = 0; i < kLoops; ++i) {
#pragma GCC unroll 12
        for (int k = 0; k < kChains; ++k) {
            sum[k] = _mm_add_ps(_mm_mul_ps(sum[k], factor), factor);
        }
    }
    for (int k = 1; k < kChains; ++k) {
        sum[0] = _mm_add_ps(sum[0], sum[k]);
    }
    return _mm_cvtss_f32(sum[0]);
}

__attribute__((target("avx512f,avx512bf16"))) float dot_bf16() {
    __m512 sum[kChains];
    for (int k = 0; k < kChains; ++k) {
        sum[k] = _mm512_set1_ps(static_cast<float>(k));
    }
    const __m512 ones = _mm512_set1_ps(1.0f);
    __m512bh factor;
    std::memcpy(&factor, &ones, sizeof factor);
    for (int i = 0; i < kLoops; ++i) {
#pragma GCC unroll 12
        for (int k = 0; k < kChains; ++k) {
            sum[k] = _mm512_dpbf16_ps(sum[k], factor, factor);
        }
    }
    for (int k = 1; k < kChains; ++k) {
        sum[0] = _mm512_add_ps(sum[0], sum[k]);
    }
    return _mm512_cvtss_f32(sum[0]);
}

constexpr double kTileFlops = 2.0 * 16 * 16 * 32;

/// Two tiles of each operand. Not zeros, nor ones: tiles of zeros take less power, and a Sapphire
/// Rapids runs them at a clock a quarter higher than it keeps for any product that says something.
struct TileOperands {
    std::uint16_t numbers[4][16 * 32];
    TileOperands() {
        std::uint32_t state = 1;
        for (auto& tile : numbers) {
            for (std::uint16_t& number : tile) {
                state = state * 1664525u + 1013904223u; // Numerical Recipes
                const float value = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
                number = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
            }
        }
    }
};

// Four sums of two by two tiles, as a product is blocked.
WEFT_TILES float tile_bf16() {
    static const TileOperands operands;
    const TileScope scope;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_loadd(4, operands.numbers[0], 64);
    _tile_loadd(5, operands.numbers[1], 64);
    _tile_loadd(6, operands.numbers[2], 64);
    _tile_loadd(7, operands.numbers[3], 64);
    for (int i = 0; i < kLoops; ++i) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    alignas(64) float result[16 * 16];
    _tile_stored(0, result, 64);
    return result[0];
}

bool has_bit(unsigned leaf, unsigned subleaf, int reg, int bit) {
    unsigned regs[4] = {};
    if (__get_cpuid_count(leaf, subleaf, &regs[0], &regs[1], &regs[2], &regs[3]) == 0) {
        return false;
    }
    return (regs[reg] >> bit & 1u) != 0;
}

bool has_bf16_dot() {
    return __builtin_cpu_supports("avx512f") != 0 && has_bit(7, 1, 0, 5);
}

void measure_products(weft_ceilings& out) {
    __builtin_cpu_init();
    const double per_lane = 2.0 * kChains * kLoops;
    if (__builtin_cpu_supports("avx512f") != 0) {
        out.f32_flops = rate_of(fma_avx512, 16 * per_lane);
    } else if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
        out.f32_flops = rate_of(fma_avx2, 8 * per_lane);
    } else {
        out.f32_flops = rate_of(multiply_add_sse, 4 * per_lane);
    }
    out.bf16_flops = out.f32_flops;
    out.bf16_unit = "f32 units";
    if (tiles_serve()) {
        out.bf16_flops = rate_of(tile_bf16, 4 * kTileFlops * kLoops);
        out.bf16_unit = "AMX tiles";
    } else if (has_bf16_dot()) {
        const double pairs = rate_of(dot_bf16, 2 * 16 * per_lane);
        if (pairs > out.bf16_flops) { // on Intel's cores without AMX they are half as fast
            out.bf16_flops = pairs;
            out.bf16_unit = "AVX-512 dot products";
        }
    }
}

/// Arrays of an optimizer sweep, touched first by the threads that will use them.
struct Arrays {
    static constexpr std::int64_t kElements = std::int64_t{24} << 20; // 96 MiB each
    std::unique_ptr<float[]> weight{new float[kElements]};
    std::unique_ptr<float[]> gradient{new float[kElements]};
    std::unique_ptr<float[]> mean{new float[kElements]};
    std::unique_ptr<float[]> square{new float[kElements]};

    template <class Fn>
    void each_range(const Fn& fn) const {
        parallel_ranges(
            kElements / 16, kElements, team_size(),
            [&](std::int64_t begin, std::int64_t end, int) { fn(begin * 16, end * 16); });
    }
};

WEFT_VECTOR void sweep(float* weight, const float* gradient, float* mean, float* square,
                       std::int64_t count) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) {
        const float g = gradient[i];
        mean[i] = 0.9f * mean[i] + 0.1f * g;
        square[i] = 0.999f * square[i] + 0.001f * g * g;
        weight[i] -= 1e-3f * mean[i] / (std::sqrt(square[i]) + 1e-8f);
    }
}

double measure_bandwidth() {
    constexpr double kBytesPerElement = 28; // four read, three written
    const Arrays arrays;
    arrays.each_range([&](std::int64_t begin, std::int64_t end) {
        std::fill(&arrays.weight[begin], &arrays.weight[end], 1.0f);
        std::fill(&arrays.gradient[begin], &arrays.gradient[end], 0.5f);
        std::fill(&arrays.mean[begin], &arrays.mean[end], 0.0f);
        std::fill(&arrays.square[begin], &arrays.square[end], 1.0f);
    });
    const double seconds = best_seconds([&] {
        arrays.each_range([&](std::int64_t begin, std::int64_t end) {
            sweep(&arrays.weight[begin], &arrays.gradient[begin], &arrays.mean[begin],
                  &arrays.square[begin], end - begin);
        });
    });
    return kBytesPerElement * Arrays::kElements / seconds;
}

// The smallest kernel of the back end, called as the executor calls it.
weft_status measure_call(double& seconds) {
    const weft_tensor_type one{WEFT_F32, 1, {1}};
    const weft_op_desc desc{"neg", 1, 1, 0, 0, &one, &one, nullptr, nullptr, nullptr};
    const weft_backend* backend = weft_cpu_backend();
    weft_query query{};
    weft_kernel* kernel = nullptr;
    weft_status status = backend->query(&desc, &query);
    status = status == WEFT_OK ? backend->prepare(&desc, &kernel) : status;
    if (status != WEFT_OK) {
        return status;
    }
    struct alignas(64) Line {
        std::byte bytes[64];
    };
    std::vector<Line> workspace(static_cast<std::size_t>(query.workspace_bytes / 64 + 1));
    constexpr int kCalls = 1000;
    const float in = 1;
    float out = 0;
    const void* inputs[] = {&in};
    void* outputs[] = {&out};
    const weft_run_args args{inputs, outputs, workspace.data(), nullptr};
    const double all = best_seconds([&] {
        for (int i = 0; i < kCalls; ++i) {
            backend->run(kernel, &args);
        }
    });
    seconds = all / kCalls;
    backend->release(kernel);
    return WEFT_OK;
}

} // namespace
} // namespace weft::kernels::cpu

extern "C" weft_status weft_measure_ceilings(weft_ceilings* result) {
    return weft::kernels::at_edge([result] {
        *result = {};
        weft::kernels::cpu::measure_products(*result);
        result->bandwidth = weft::kernels::cpu::measure_bandwidth();
        return weft::kernels::cpu::measure_call(result->call_s);
    });
}
