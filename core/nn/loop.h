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

} // namespace weft::nn
