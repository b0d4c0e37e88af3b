// SPDX-License-Identifier: Apache-2.0
// What products of a few rows are.
#pragma once

#include <cstdint>

namespace weft::kernels::cpu {

/// Up to so many rows memory sets the pace of a product: each weight is read once, as it lies.
/// Kernels that bring weights into another order first leave such products alone.
inline constexpr std::int64_t kFewRows = 4;

} // namespace weft::kernels::cpu
