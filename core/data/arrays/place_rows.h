// SPDX-License-Identifier: Apache-2.0
// Rows that lie one after the other, to places all over a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::data {

/// Row i of `rows` becomes row places[i] of `out`; all rows have `row_bytes`. Other threads may
/// write other rows meanwhile.
void place_rows(std::span<const std::byte> rows, std::size_t row_bytes,
                std::span<const std::uint32_t> places, std::span<std::byte> out);

} // namespace weft::data
