// SPDX-License-Identifier: Apache-2.0
#include "core/base/check.h"
#include "core/base/philox.h"
#include "core/data/dataset.h"

#include <array>
#include <bit>

namespace weft::data {
namespace {

// Half-rounds; each half of the number is changed five times.
constexpr int kRounds = 10;

using RoundKeys = std::array<std::uint64_t, kRounds>;

RoundKeys round_keys(std::uint64_t seed, std::int64_t epoch) {
    const RandomStream stream(seed, "data.order");
    RoundKeys keys{};
    for (int i = 0; i < kRounds; i += 2) {
        const PhiloxCounter words =
            stream.block(static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(i));
        keys[static_cast<std::size_t>(i)] = std::uint64_t{words[1]} << 32 | words[0];
        keys[static_cast<std::size_t>(i) + 1] = std::uint64_t{words[3]} << 32 | words[2];
    }
    return keys;
}

/// A permutation of the numbers of `bits` bits: each half-round adds a function of one half to the
/// other, which can be undone.
std::uint64_t permute(std::uint64_t value, int bits, const RoundKeys& keys) {
    const int low_bits = bits / 2;
    const std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1;
    const std::uint64_t high_mask = (std::uint64_t{1} << (bits - low_bits)) - 1;
    std::uint64_t low = value & low_mask;
    std::uint64_t high = value >> low_bits;
    for (std::size_t i = 0; i < keys.size(); i += 2) {
        high ^= mix_bits(low + keys[i]) & high_mask;
        low ^= mix_bits(high + keys[i + 1]) & low_mask;
    }
    return high << low_bits | low;
}

} // namespace

Sampler::Sampler(std::int64_t samples, bool shuffle, std::uint64_t seed)
    : samples_(samples), shuffle_(shuffle), seed_(seed) {
    WEFT_CHECK(samples > 0, "a sampler has samples");
}

std::int64_t Sampler::index(std::int64_t epoch, std::int64_t position) const {
    WEFT_CHECK(epoch >= 0 && position >= 0 && position < samples_, "position within the epoch");
    if (!shuffle_) {
        return position;
    }
    const RoundKeys keys = round_keys(seed_, epoch);
    const int bits = std::bit_width(static_cast<std::uint64_t>(samples_ - 1));
    auto value = static_cast<std::uint64_t>(position);
    // Walks the cycle until it is back among the samples: less than two steps on average.
    do {
        value = permute(value, bits, keys);
    } while (value >= static_cast<std::uint64_t>(samples_));
    return static_cast<std::int64_t>(value);
}

} // namespace weft::data
