// SPDX-License-Identifier: Apache-2.0
// What the numbers of an array are like: how many, their mean, norm and range, and how many lie
// where. Spreads of parts add up to that of the whole.
#pragma once

#include "core/ir/type.h"

#include <array>
#include <cstdint>

namespace weft::train {

/// Bins are parts of octaves, the same for every array: four from each power of two to the next,
/// from 2^-40 to 2^24, for each sign, with zero between them. What is nearer to zero or farther
/// from it is in the first or last bin of its sign. Ascending: 0 is the most negative.
constexpr int kBinsAnOctave = 4;
constexpr int kLowestOctave = -40;
constexpr int kOctaves = 64;
constexpr int kSideBins = kBinsAnOctave * kOctaves;
constexpr int kSpreadBins = 2 * kSideBins + 1;
constexpr int kZeroBin = kSideBins;

/// The bin of a number; not of NaN.
int bin_of(float value);
/// The least of the numbers of a bin, by size where it is positive: edge(bin) <= x < edge(bin + 1),
/// and the same mirrored for negative ones. Of bins from kZeroBin + 1 to kSpreadBins.
double lower_edge(int bin);

struct Spread {
    std::int64_t count = 0; // finite and not
    std::int64_t zeros = 0;
    std::int64_t not_finite = 0; // in nothing else but count
    double sum = 0;
    double squares = 0;
    double low = 0, high = 0; // 0 where none is finite
    std::array<std::int64_t, kSpreadBins> bins{};

    /// `elements` numbers of a float type from `data` on, of which the bins may know nothing: of a
    /// large array a part tells where numbers lie.
    enum class Bins : std::uint8_t { count, leave };
    void add(ir::DType dtype, const void* data, std::int64_t elements, Bins how = Bins::count);
    void add(const Spread& other);
    /// As if every number had been divided by it; above 0. Bins move by whole ones.
    void divide(double divisor);
    bool is_empty() const { return count == 0; }
    std::int64_t finite() const { return count - not_finite; }
    double norm() const;
    double mean() const;
    /// Of the population.
    double deviation() const;

private:
    void add_block(const float* values, std::int64_t count, Bins how);
};

} // namespace weft::train
