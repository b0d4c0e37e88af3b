// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/presets/byte_ngram.h"

#include <array>
#include <cmath>
#include <unordered_map>

namespace weft::test {
namespace {

constexpr int kOrder = 3;

/// Followers of one context.
struct Followers {
    std::unordered_map<std::uint8_t, std::int64_t> counts;
    std::int64_t total = 0;
};

using Contexts = std::unordered_map<std::uint32_t, Followers>;

std::uint32_t key(std::span<const std::uint8_t> row, std::size_t at, int order) {
    std::uint32_t out = 0;
    for (int back = order; back >= 1; --back) {
        out = out << 8 | row[at - static_cast<std::size_t>(back)];
    }
    return out;
}

/// P(byte | context) = (count + distinct * P(byte | shorter context)) / (total + distinct)
double probability(const std::array<Contexts, kOrder + 1>& model, std::span<const std::uint8_t> row,
                   std::size_t at) {
    double p = 1.0 / 256.0;
    for (int order = 0; order <= kOrder && static_cast<std::size_t>(order) <= at; ++order) {
        const auto found = model[static_cast<std::size_t>(order)].find(key(row, at, order));
        if (found == model[static_cast<std::size_t>(order)].end()) {
            break;
        }
        const Followers& followers = found->second;
        const auto distinct = static_cast<double>(followers.counts.size());
        const auto seen = followers.counts.find(row[at]);
        const double count =
            seen == followers.counts.end() ? 0.0 : static_cast<double>(seen->second);
        p = (count + distinct * p) / (static_cast<double>(followers.total) + distinct);
    }
    return p;
}

} // namespace

double ngram_bits_per_byte(std::span<const std::uint8_t> training,
                           std::span<const std::uint8_t> held_out, std::size_t length) {
    std::array<Contexts, kOrder + 1> model;
    for (std::size_t begin = 0; begin + length <= training.size(); begin += length) {
        const auto row = training.subspan(begin, length);
        for (std::size_t at = 0; at < length; ++at) {
            for (int order = 0; order <= kOrder && static_cast<std::size_t>(order) <= at; ++order) {
                Followers& followers = model[static_cast<std::size_t>(order)][key(row, at, order)];
                ++followers.counts[row[at]];
                ++followers.total;
            }
        }
    }
    double bits = 0;
    std::int64_t bytes = 0;
    for (std::size_t begin = 0; begin + length <= held_out.size(); begin += length) {
        const auto row = held_out.subspan(begin, length);
        // The first byte of a window is given to both models.
        for (std::size_t at = 1; at < length; ++at) {
            bits -= std::log2(probability(model, row, at));
            ++bytes;
        }
    }
    return bits / static_cast<double>(bytes);
}

} // namespace weft::test
