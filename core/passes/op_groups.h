// SPDX-License-Identifier: Apache-2.0
// Ops that passes must not join with each other.
#pragma once

#include "core/ir/program.h"

#include <functional>

namespace weft::passes {

/// The group of an op; ops of different groups stay apart.
using OpGroups = std::function<int(const ir::Op&)>;

inline int one_group(const ir::Op&) {
    return 0;
}

} // namespace weft::passes
