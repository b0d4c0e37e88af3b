// SPDX-License-Identifier: Apache-2.0
// Inputs made from sound ones by changes at random.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace weft::test {

inline constexpr std::size_t kMostInputBytes = 1 << 20;

/// One of `seeds` (not empty) with one to eight changes: bits and bytes, stretches cut out, doubled
/// or taken from another seed, binary and written numbers at the ends of their ranges, `words`. A
/// pure function of its arguments, at most kMostInputBytes long.
std::string mutated(std::span<const std::string> seeds, std::span<const std::string> words,
                    std::uint64_t seed, std::uint64_t number);

} // namespace weft::test
