// SPDX-License-Identifier: Apache-2.0
// The two ways in which the emulation multiplies: how long they take is what a test says.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

namespace weft::test {

/// Of a way; none: nothing can be timed now.
using ProductTimes = std::function<std::optional<double>(std::size_t)>;

/// Null, as at the start: nothing can be timed. `times` outlives its use.
void set_product_times(const ProductTimes* times);
/// Of the last product that was queued.
std::size_t last_product_way();

// For the emulation.
std::optional<double> seconds_of_product(std::size_t way);
void note_product(std::size_t way);

} // namespace weft::test
