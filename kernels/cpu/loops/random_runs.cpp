// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/loops/random_runs.h"

#include "kernels/cpu/loops/simd.h"

#include <algorithm>

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

/// The four words of each of eight blocks, in order: 32 uniform numbers. Ten rounds in lanes of 64
/// bits: the multiplication reads only the lower half of a lane, so the upper halves may hold
/// rubbish until the end. The compiler finds no such form itself.
__attribute__((target("avx512f"))) WEFT_INLINE void
philox_512(__m512i block, __m512i step_low, __m512i step_high, const RoundKeys& keys, float* out) {
    const __m512i m0 = _mm512_set1_epi64(kMultiplier0);
    const __m512i m1 = _mm512_set1_epi64(kMultiplier1);
    __m512i c0 = block;
    __m512i c1 = _mm512_srli_epi64(block, 32);
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
    constexpr __mmask16 kUpper = 0xaaaa;
    const __m512i first = _mm512_mask_mov_epi32(c0, kUpper, _mm512_slli_epi64(c1, 32));
    const __m512i second = _mm512_mask_mov_epi32(c2, kUpper, _mm512_slli_epi64(c3, 32));
    const __m512i words[2] = {
        _mm512_permutex2var_epi64(first, _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), second),
        _mm512_permutex2var_epi64(first, _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4), second)};
    for (int i = 0; i < 2; ++i) {
        _mm512_storeu_ps(out + 16 * i,
                         _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_srli_epi32(words[i], 8)),
                                       _mm512_set1_ps(0x1p-24f)));
    }
}

constexpr std::int64_t kAtOnce = 32; // numbers

/// `groups` times 32 numbers of the blocks from `block` on.
__attribute__((target("avx512f"))) void uniforms_512(const Stream& stream, std::uint64_t block,
                                                     float* out, std::int64_t groups) {
    const RoundKeys keys(stream.key);
    const __m512i low = _mm512_set1_epi64(static_cast<long long>(stream.step & 0xffffffffu));
    const __m512i high = _mm512_set1_epi64(static_cast<long long>(stream.step >> 32));
    const __m512i eight = _mm512_set1_epi64(8);
    __m512i index = _mm512_add_epi64(_mm512_set1_epi64(static_cast<long long>(block)),
                                     _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    std::int64_t i = 0;
    for (; i + 2 <= groups; i += 2) { // two at a time hide each other's latency
        const __m512i next = _mm512_add_epi64(index, eight);
        philox_512(index, low, high, keys, out + kAtOnce * i);
        philox_512(next, low, high, keys, out + kAtOnce * (i + 1));
        index = _mm512_add_epi64(next, eight);
    }
    if (i < groups) {
        philox_512(index, low, high, keys, out + kAtOnce * i);
    }
}

/// uniforms_512 on any machine.
void uniforms(const Stream& stream, std::uint64_t block, float* out, std::int64_t groups) {
    static const bool wide = __builtin_cpu_supports("avx512f");
    if (wide) {
        uniforms_512(stream, block, out, groups);
        return;
    }
    for (std::int64_t i = 0; i < groups * kAtOnce; i += 4) {
        const PhiloxBlock words = stream.block(block + static_cast<std::uint64_t>(i / 4));
        for (int w = 0; w < 4; ++w) {
            out[i + w] = uniform_of(words[static_cast<std::size_t>(w)]);
        }
    }
}

WEFT_VECTOR void keep_where(float* values, float rate, float kept, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        values[i] = values[i] >= rate ? kept : 0.0f;
    }
}

} // namespace

void uniform_words(const Stream& stream, std::uint64_t first, float* out, std::int64_t count) {
    std::int64_t done = 0;
    while (done < count) {
        const std::uint64_t index = first + static_cast<std::uint64_t>(done);
        const auto skipped = static_cast<std::int64_t>(index % 4);
        if (skipped == 0 && count - done >= kAtOnce) {
            const std::int64_t groups = (count - done) / kAtOnce;
            uniforms(stream, index / 4, out + done, groups);
            done += groups * kAtOnce;
            continue;
        }
        float some[kAtOnce];
        uniforms(stream, index / 4, some, 1);
        const std::int64_t taken = std::min(kAtOnce - skipped, count - done);
        std::copy_n(some + skipped, taken, out + done);
        done += taken;
    }
}

void dropout_factors(const Stream& stream, std::uint64_t first, float rate, float kept, float* keep,
                     std::int64_t count) {
    uniform_words(stream, first, keep, count);
    keep_where(keep, rate, kept, count);
}

} // namespace weft::kernels::cpu
