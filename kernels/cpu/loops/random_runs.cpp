// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/loops/random_runs.h"

#include "kernels/cpu/loops/simd.h"

// The intrinsics of g++ 12 build their results on deliberately uninitialised registers.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

namespace weft::kernels::cpu {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53u;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57u;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9u;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85u;

/// The keys of the ten rounds, first and second word in turn.
struct RoundKeys {
    long long word[20];

    explicit RoundKeys(std::uint64_t key) {
        auto k0 = static_cast<std::uint32_t>(key);
        auto k1 = static_cast<std::uint32_t>(key >> 32);
        for (int round = 0; round < 10; ++round) {
            word[2 * round] = k0;
            word[2 * round + 1] = k1;
            k0 += kWeyl0;
            k1 += kWeyl1;
        }
    }
};

/// Ten rounds on eight indices in lanes of 64 bits: the multiplication reads only the lower half of
/// a lane, so the upper halves may hold rubbish until the end. The compiler finds no such form
/// itself.
__attribute__((target("avx512f"))) WEFT_INLINE void
philox_512(__m512i index, __m512i step_low, __m512i step_high, const RoundKeys& keys, float* out) {
    const __m512i m0 = _mm512_set1_epi64(kMultiplier0);
    const __m512i m1 = _mm512_set1_epi64(kMultiplier1);
    __m512i c0 = index;
    __m512i c1 = _mm512_srli_epi64(index, 32);
    __m512i c2 = step_low;
    __m512i c3 = step_high;
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
        constexpr int kXorOfThree = 0x96;
        const __m512i p0 = _mm512_mul_epu32(c0, m0);
        const __m512i p1 = _mm512_mul_epu32(c2, m1);
        c0 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p1, 32), c1,
                                       _mm512_set1_epi64(keys.word[2 * round]), kXorOfThree);
        c2 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), c3,
                                       _mm512_set1_epi64(keys.word[2 * round + 1]), kXorOfThree);
        c1 = p1;
        c3 = p0;
    }
    const __m256i upper = _mm256_srli_epi32(_mm512_cvtepi64_epi32(c0), 8);
    _mm256_storeu_ps(out, _mm256_mul_ps(_mm256_cvtepi32_ps(upper), _mm256_set1_ps(0x1p-24f)));
}

/// Returns how many numbers were made: `count` less a rest below sixteen.
__attribute__((target("avx512f"))) std::int64_t
uniforms_512(const Stream& stream, std::uint64_t first, float* out, std::int64_t count) {
    const RoundKeys keys(stream.key);
    const __m512i low = _mm512_set1_epi64(static_cast<long long>(stream.step & 0xffffffffu));
    const __m512i high = _mm512_set1_epi64(static_cast<long long>(stream.step >> 32));
    const __m512i eight = _mm512_set1_epi64(8);
    __m512i index = _mm512_add_epi64(_mm512_set1_epi64(static_cast<long long>(first)),
                                     _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    std::int64_t i = 0;
    for (; i + 16 <= count; i += 16) { // two at a time hide each other's latency
        const __m512i next = _mm512_add_epi64(index, eight);
        philox_512(index, low, high, keys, out + i);
        philox_512(next, low, high, keys, out + i + 8);
        index = _mm512_add_epi64(next, eight);
    }
    return i;
}

WEFT_VECTOR void keep_where(float* values, float rate, float kept, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        values[i] = values[i] >= rate ? kept : 0.0f;
    }
}

} // namespace

void uniform_run(const Stream& stream, std::uint64_t first, float* out, std::int64_t count) {
    static const bool wide = __builtin_cpu_supports("avx512f");
    for (std::int64_t i = wide ? uniforms_512(stream, first, out, count) : 0; i < count; ++i) {
        out[i] = uniform_of(stream.block(first + static_cast<std::uint64_t>(i))[0]);
    }
}

void dropout_factors(const Stream& stream, std::uint64_t first, float rate, float kept, float* keep,
                     std::int64_t count) {
    uniform_run(stream, first, keep, count);
    keep_where(keep, rate, kept, count);
}

} // namespace weft::kernels::cpu
