// SPDX-License-Identifier: Apache-2.0
// Looks for values that are not finite. Private to core/exec.
#pragma once

#include "core/ir/type.h"

namespace weft::exec {

/// Whether no element is infinite or NaN; true for integers.
bool all_finite(const ir::Type& type, const void* data);

} // namespace weft::exec
