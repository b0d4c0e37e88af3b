// SPDX-License-Identifier: Apache-2.0
// Looks for values that are not finite, and says what the others are.
#pragma once

#include "core/ir/type.h"

#include <cstdint>
#include <vector>

namespace weft::exec {

/// Whether no element is infinite or NaN; true for integers.
bool all_finite(const ir::Type& type, const void* data);

/// What an array holds.
struct ValueRange {
    std::int64_t finite = 0, infinite = 0, nan = 0; // so many elements
    double low = 0, high = 0;                       // of the finite ones
    std::int64_t first_bad = -1;                    // element that is not finite; -1: none
    std::int64_t lowest_at = -1, highest_at = -1;   // elements; -1: none is finite
};
/// Of integers, too.
ValueRange range_of(const ir::Type& type, const void* data);

inline constexpr std::int64_t kHistogramBins = 32;
/// How many finite elements lie in each of kHistogramBins equal parts of `range`, which is theirs;
/// empty where they do not differ.
std::vector<std::int64_t> histogram_of(const ir::Type& type, const void* data,
                                       const ValueRange& range);
/// Of the elements; not finite where one of them is not.
double sum_of_squares(const ir::Type& type, const void* data);

} // namespace weft::exec
