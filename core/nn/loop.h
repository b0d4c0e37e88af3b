// SPDX-License-Identifier: Apache-2.0
// Loops in models: a stretch that runs several times over values that it hands on to itself.
#pragma once

#include "core/ops/builder.h"

#include <cstdint>
#include <functional>

namespace weft::nn {

/// A loop of `count` iterations. `body` appends one with the same builder: from the carried values
/// to those of the next, of the same types. Returns what the last one gives.
ir::ValueIds repeated(ops::Builder& builder, std::int64_t count, const ir::ValueIds& carried,
                      const std::function<ir::ValueIds(const ir::ValueIds&)>& body);

/// A loop over the rows of `rows` [count, ...]: each iteration takes the carried values and then
/// one row of each, and gives the carried ones of the next and then one row of each result. Returns
/// the carried values that the last one gives, then the results [count, ...].
ir::ValueIds scanned(ops::Builder& builder, std::int64_t count, const ir::ValueIds& carried,
                     const ir::ValueIds& rows,
                     const std::function<ir::ValueIds(const ir::ValueIds&)>& body);

} // namespace weft::nn
