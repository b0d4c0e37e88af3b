// SPDX-License-Identifier: Apache-2.0
// How a setting and a result of the same runs go together. Runs where either is not finite are left
// out, and each answer says how many runs it rests on.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::compare {

struct Measured {
    double value = 0;
    std::size_t runs = 0; // that it rests on
};

/// Ranks from 1; equal values share the mean of theirs.
std::vector<double> ranks(std::span<const double> values);

/// Spearman's rho (1904): Pearson's correlation of the ranks, -1 to 1. None for fewer than three
/// runs, or where all values of one side are the same.
std::optional<Measured> rank_correlation(std::span<const double> a, std::span<const double> b);

/// Which group each run is in, for variance_share; kNoGroup: in none.
inline constexpr std::size_t kNoGroup = static_cast<std::size_t>(-1);

/// A group for each distinct value while there are at most `most`, else `most` groups of neighbours
/// of as equal sizes as equal values, which stay together, allow.
std::vector<std::size_t> groups_of(std::span<const double> values, std::size_t most);
/// A group for each distinct text; an empty one is in none.
std::vector<std::size_t> groups_of(std::span<const std::string> values);

/// The share of the variance of `results` that lies between the groups, less what chance alone
/// would give: epsilon squared (T. L. Kelley, "An unbiased correlation ratio measure", PNAS 21
/// (1935) 554), at least 0. None with fewer than two groups, with no group of more than one run, or
/// where all results are the same.
std::optional<Measured> variance_share(std::span<const std::size_t> groups,
                                       std::span<const double> results);

} // namespace weft::compare
