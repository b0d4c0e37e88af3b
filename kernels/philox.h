// SPDX-License-Identifier: Apache-2.0
// Random numbers of the kernels: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011). A number is a pure function of (seed, stream name, step, logical index):
//   key     = seed xor FNV-1a-64(stream), low word first
//   counter = {index low, index high, step low, step high}
// and of the block's four words w0..w3
//   uniform            u = (w0 >> 8) * 2^-24, in [0, 1)
//   dropout            keeps where u >= rate, with the word i % 4 of the block of index i / 4
//   normal             Box-Muller: sqrt(-2 ln u1) cos(2 pi u2), u1 = ((w0 >> 8) + 1) * 2^-24 in (0,
//   1],
//                      u2 = (w1 >> 8) * 2^-24
//   truncated normal   inverse distribution function at Phi(-2) + u (Phi(2) - Phi(-2)),
//                      u = ((w0 >> 8) + 0.5) * 2^-24
// Normals are computed in double and rounded once. Threads, mesh and resume change nothing.
#pragma once

#include "kernels/host_device.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace weft::kernels {

using PhiloxBlock = std::array<std::uint32_t, 4>;

/// FNV-1a with 64 bits.
constexpr std::uint64_t stream_hash(std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : name) {
        hash ^= static_cast<std::uint8_t>(c);
        hash *= 0x100000001b3u;
    }
    return hash;
}

/// Ten rounds on `counter` under the key (k0, k1).
WEFT_HOST_DEVICE constexpr PhiloxBlock philox(PhiloxBlock counter, std::uint32_t k0,
                                              std::uint32_t k1) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * counter[0];
        const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * counter[2];
        counter = {
            static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ k0, static_cast<std::uint32_t>(p1),
            static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ k1, static_cast<std::uint32_t>(p0)};
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return counter;
}

/// The stream of one op in one step, made from the `random` operand i64[3] = {seed, step, first}.
struct Stream {
    std::uint64_t key;
    std::uint64_t step;

    WEFT_HOST_DEVICE Stream(const std::int64_t* random, std::uint64_t hash)
        : key(static_cast<std::uint64_t>(random[0]) ^ hash),
          step(static_cast<std::uint64_t>(random[1])) {}

    WEFT_HOST_DEVICE PhiloxBlock block(std::uint64_t index) const {
        return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                       static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)},
                      static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32));
    }
    /// Of a number that takes one word: each of a block's four serves one index.
    WEFT_HOST_DEVICE std::uint32_t word(std::uint64_t index) const {
        const PhiloxBlock words = block(index / 4);
        const std::uint64_t lane = index % 4; // chosen, since a GPU has no registers by number
        return lane < 2 ? lane == 0 ? words[0] : words[1] : lane == 2 ? words[2] : words[3];
    }
};

/// In [0, 1), exact in float.
WEFT_HOST_DEVICE constexpr float uniform_of(std::uint32_t word) {
    return static_cast<float>(word >> 8) * 0x1p-24f;
}

WEFT_HOST_DEVICE inline double normal_of(const PhiloxBlock& block) {
    const double u1 = static_cast<double>((block[0] >> 8) + 1) * 0x1p-24;
    const double u2 = static_cast<double>(block[1] >> 8) * 0x1p-24;
    return std::sqrt(-2.0 * std::log(u1)) * std::cos(6.283185307179586476925 * u2);
}

/// Standard normal cut at +-2: Newton's method on the distribution function. It is convex left of
/// the centre and concave right of it, so the steps from the centre approach the root from one
/// side.
WEFT_HOST_DEVICE inline double truncated_normal_of(const PhiloxBlock& block) {
    const double u = (static_cast<double>(block[0] >> 8) + 0.5) * 0x1p-24;
    const double low = 0.5 * std::erfc(std::sqrt(2.0)); // Phi(-2)
    const double target = low + u * (1.0 - 2.0 * low);
    double x = 0.0;
    for (int step = 0; step < 20; ++step) {
        const double density = 0.398942280401432678 * std::exp(-0.5 * x * x);
        const double move = (0.5 * std::erfc(-x * 0.707106781186547524) - target) / density;
        x -= move;
        if (std::fabs(move) < 1e-15) {
            break;
        }
    }
    return std::fmin(std::fmax(x, -2.0), 2.0);
}

} // namespace weft::kernels
