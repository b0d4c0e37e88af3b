// SPDX-License-Identifier: Apache-2.0
// Named streams of random numbers for the host, over the generator of the kernels. A value is a
// pure function of (seed, stream name, step, logical index), so thread count, mesh and resume
// change nothing. Everything here is free of state and safe from any thread. Streams of kernels
// (kernels/philox.h) have keys of their own.
#pragma once

#include "kernels/philox.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace weft {

using PhiloxCounter = kernels::PhiloxBlock;
using PhiloxKey = std::array<uint32_t, 2>;

/// Ten rounds of Philox4x32: four independent uniform words for one counter under one key.
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
    return kernels::philox(counter, key[0], key[1]);
}

/// The bijective finaliser of SplitMix64 (Steele, Lea, Flood 2014): spreads every bit over all others.
constexpr uint64_t mix_bits(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/// The key of a named stream under a run's seed.
constexpr PhiloxKey stream_key(uint64_t seed, std::string_view name) {
    const uint64_t mixed =
        mix_bits(mix_bits(seed + 0x9e3779b97f4a7c15u) ^ kernels::stream_hash(name));
    return {static_cast<uint32_t>(mixed), static_cast<uint32_t>(mixed >> 32)};
}

/// Uniform in [0, 1): the upper 24 bits, so that every result is an exact float below one.
constexpr float uniform_01(uint32_t word) {
    return kernels::uniform_of(word);
}

/// Uniform in (0, 1]: safe under a logarithm.
constexpr float uniform_open(uint32_t word) {
    return static_cast<float>((word >> 8) + 1) * 0x1p-24f;
}

/// Two independent standard normal values out of two words (Box and Muller 1958), in double so that
/// the result rounds alike with every compiler setting.
inline std::array<float, 2> normal_pair(uint32_t a, uint32_t b) {
    const double radius = std::sqrt(-2.0 * std::log(static_cast<double>(uniform_open(a))));
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(uniform_01(b));
    return {static_cast<float>(radius * std::cos(angle)),
            static_cast<float>(radius * std::sin(angle))};
}

/// A named stream: element `index` of step `step` is word index % 4 of the block with the counter
/// {index / 4, step}. Kernels that fill whole blocks must use the same layout.
class RandomStream {
public:
    constexpr RandomStream(uint64_t seed, std::string_view name) : key_(stream_key(seed, name)) {}

    constexpr PhiloxKey key() const { return key_; }

    /// Words 4 * block .. 4 * block + 3 of a step.
    constexpr PhiloxCounter block(uint64_t step, uint64_t block_index) const {
        return philox4x32({static_cast<uint32_t>(block_index),
                           static_cast<uint32_t>(block_index >> 32), static_cast<uint32_t>(step),
                           static_cast<uint32_t>(step >> 32)},
                          key_);
    }

    constexpr uint32_t word(uint64_t step, uint64_t index) const {
        return block(step, index / 4)[index % 4];
    }

    /// Uniform in [0, 1).
    constexpr float uniform(uint64_t step, uint64_t index) const {
        return uniform_01(word(step, index));
    }

    /// Standard normal; elements 2k and 2k + 1 are the two halves of one pair of words.
    float normal(uint64_t step, uint64_t index) const {
        const PhiloxCounter words = block(step, index / 4);
        const uint64_t pair = index % 4 / 2;
        return normal_pair(words[2 * pair], words[2 * pair + 1])[index % 2];
    }

    /// Uniform integer in [0, bound), bound > 0; the bias is below bound / 2^64.
    constexpr uint64_t below(uint64_t step, uint64_t index, uint64_t bound) const {
        const PhiloxCounter words = block(step, index);
        const uint64_t bits = uint64_t{words[1]} << 32 | words[0];
        const uint64_t high = (bits >> 32) * bound;
        return bound >> 32 != 0 ? bits % bound : (high + ((bits & 0xffffffffu) * bound >> 32)) >> 32;
    }

private:
    PhiloxKey key_;
};

} // namespace weft
