// SPDX-License-Identifier: Apache-2.0
// Offsets of buffers with known lifetimes in one arena (dynamic storage allocation, offline).
#pragma once

#include "core/memory/liveness.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::memory {

/// Every buffer starts at a multiple of this: a cache line, and what the kernels ask for.
constexpr std::int64_t kAlignment = 64;
constexpr std::int64_t align(std::int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct Block {
    std::int64_t bytes = 0;
    Range range;
    std::int64_t offset = 0; // result
};

struct ArenaPlan {
    std::int64_t bytes = 0;       // end of the highest block
    std::int64_t lower_bound = 0; // most bytes alive at once: no plan can be smaller
};

/// Sets the offsets, from `base` on. Largest first, each at the lowest place where it meets no
/// block that is alive at the same time (greedy by size: Pisarchyk and Lee, 2020).
ArenaPlan assign_offsets(std::span<Block> blocks, std::int64_t base);

/// Independent check: misaligned offsets, and blocks that overlap in memory and time, one sentence
/// each; of several that overlap one another not every pair. Empty: sound.
std::vector<std::string> check_offsets(std::span<const Block> blocks, std::int64_t base);

} // namespace weft::memory
