// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers:
// as easy as 1, 2, 3", SC 2011, section 4.3). A value is a pure function of (seed, stream name, step,
// logical index), so thread count, mesh and resume change nothing. Everything here is free of state
// and safe from any thread.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace weft {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

/// Ten rounds of Philox4x32: four independent uniform words for one counter under one key.
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
    constexpr uint32_t kMultiplier0 = 0xD2511F53u;
    constexpr uint32_t kMultiplier1 = 0xCD9E8D57u;
    constexpr uint32_t kWeyl0 = 0x9E3779B9u; // golden ratio
    constexpr uint32_t kWeyl1 = 0xBB67AE85u; // sqrt(3) - 1
    for (int round = 0; round < 10; ++round) {
        const uint64_t product0 = uint64_t{kMultiplier0} * counter[0];
        const uint64_t product1 = uint64_t{kMultiplier1} * counter[2];
        counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
                   static_cast<uint32_t>(product1),
                   static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
                   static_cast<uint32_t>(product0)};
        key[0] += kWeyl0;
        key[1] += kWeyl1;
    }
    return counter;
}

/// FNV-1a, 64 bits: the same number for a name on every machine and in every version.
constexpr uint64_t stable_hash(std::string_view name) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : name) {
        hash ^= static_cast<uint8_t>(c);
        hash *= 0x100000001b3u;
    }
    return hash;
}

/// The bijective finaliser of SplitMix64 (Steele, Lea, Flood 2014): spreads every bit over all others.
constexpr uint64_t mix_bits(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/// The key of a named stream under a run's seed.
constexpr PhiloxKey stream_key(uint64_t seed, std::string_view name) {
    const uint64_t mixed = mix_bits(mix_bits(seed + 0x9e3779b97f4a7c15u) ^ stable_hash(name));
    return {static_cast<uint32_t>(mixed), static_cast<uint32_t>(mixed >> 32)};
}

/// Uniform in [0, 1): the upper 24 bits, so that every result is an exact float below one.
constexpr float uniform_01(uint32_t word) {
    return static_cast<float>(word >> 8) * 0x1p-24f;
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
