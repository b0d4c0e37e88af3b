// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/loops/random_runs.h"

#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/vectors/avx512.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

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

/// The four words of each of eight blocks, in order. Ten rounds in lanes of 64 bits: the
/// multiplication reads only the lower half of a lane, so the upper halves may hold rubbish until
/// the end. The compiler finds no such form itself.
WEFT_AVX512 WEFT_INLINE void philox_512(__m512i block, __m512i step_low, __m512i step_high,
                                        const RoundKeys& keys, __m512i (&words)[2]) {
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
    words[0] = _mm512_permutex2var_epi64(first, _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), second);
    words[1] =
        _mm512_permutex2var_epi64(first, _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4), second);
}

constexpr std::int64_t kAtOnce = 32; // numbers

/// Blocks in order, eight at a time.
class Blocks512 {
public:
    WEFT_AVX512 WEFT_INLINE Blocks512(const Stream& stream, std::uint64_t block)
        : keys_(stream.key),
          low_(_mm512_set1_epi64(static_cast<long long>(stream.step & 0xffffffffu))),
          high_(_mm512_set1_epi64(static_cast<long long>(stream.step >> 32))),
          index_(_mm512_add_epi64(_mm512_set1_epi64(static_cast<long long>(block)),
                                  _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0))) {}

    /// The next kAtOnce words.
    WEFT_AVX512 WEFT_INLINE void next(__m512i (&words)[2]) {
        philox_512(index_, low_, high_, keys_, words);
        index_ = _mm512_add_epi64(index_, _mm512_set1_epi64(8));
    }

private:
    const RoundKeys keys_;
    const __m512i low_, high_;
    __m512i index_;
};

/// `groups` times 32 numbers of the blocks from `block` on.
WEFT_AVX512 void uniforms_512(const Stream& stream, std::uint64_t block, float* out,
                              std::int64_t groups) {
    Blocks512 blocks(stream, block);
    for (std::int64_t i = 0; i < groups; ++i) {
        __m512i words[2];
        blocks.next(words);
        for (int half = 0; half < 2; ++half) {
            const __m512 whole = _mm512_cvtepi32_ps(_mm512_srli_epi32(words[half], 8));
            _mm512_storeu_ps(out + kAtOnce * i + 16 * half,
                             _mm512_mul_ps(whole, _mm512_set1_ps(0x1p-24f)));
        }
    }
}

/// out = x kept where the number, 24 bits, is at least `least`, of `groups` times 32 elements.
template <class T>
WEFT_AVX512 void drop_512(const Stream& stream, std::uint64_t block, std::uint32_t least,
                          float kept, const T* x, T* out, std::int64_t groups) {
    Blocks512 blocks(stream, block);
    const __m512i bound = _mm512_set1_epi32(static_cast<int>(least));
    const __m512 factor = _mm512_set1_ps(kept);
    for (std::int64_t i = 0; i < groups; ++i) {
        __m512i words[2];
        blocks.next(words);
        for (int half = 0; half < 2; ++half) {
            const __mmask16 stays =
                _mm512_cmpge_epu32_mask(_mm512_srli_epi32(words[half], 8), bound);
            const std::int64_t at = kAtOnce * i + 16 * half;
            store_512(out + at, lanes(16),
                      _mm512_maskz_mul_ps(stays, load_512(x + at, lanes(16)), factor));
        }
    }
}

/// uniforms_512 on any machine.
void uniforms(const Stream& stream, std::uint64_t block, float* out, std::int64_t groups) {
    if (machine_has_avx512()) {
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

WEFT_VECTOR void multiply_run(const float* x, const float* factors, float* out,
                              std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = factors[i] != 0.0f ? x[i] * factors[i] : 0.0f;
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

template <class T>
void drop_run(const Stream& stream, std::uint64_t first, float rate, float kept, const T* x, T* out,
              std::int64_t count) {
    std::int64_t done = 0;
    if (machine_has_avx512() && first % 4 == 0) {
        const std::int64_t groups = count / kAtOnce;
        const auto least =
            static_cast<std::uint32_t>(std::ceil(static_cast<double>(rate) * 0x1p24));
        drop_512(stream, first / 4, least, kept, x, out, groups);
        done = groups * kAtOnce;
    }
    constexpr std::int64_t kSome = 256;
    float factors[kSome];
    for (; done < count; done += kSome) {
        const std::int64_t some = std::min(kSome, count - done);
        dropout_factors(stream, first + static_cast<std::uint64_t>(done), rate, kept, factors,
                        some);
        if constexpr (std::is_same_v<T, float>) {
            multiply_run(x + done, factors, out + done, some);
        } else {
            float values[kSome];
            load_bf16(x + done, values, some);
            multiply_run(values, factors, values, some);
            store_bf16(values, out + done, some);
        }
    }
}

template void drop_run(const Stream&, std::uint64_t, float, float, const float*, float*,
                       std::int64_t);
template void drop_run(const Stream&, std::uint64_t, float, float, const bf16*, bf16*,
                       std::int64_t);

} // namespace weft::kernels::cpu
