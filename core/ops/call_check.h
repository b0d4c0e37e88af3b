// SPDX-License-Identifier: Apache-2.0
// Whether an op follows its record: arity, attributes, operand types. Used by the builder (before
// the op has outputs) and the verifier. Private to core/ops.
#pragma once

#include "core/ops/op_def.h"

namespace weft::ops {

/// Output types of the op, or what is wrong with it, without its name.
Inferred check_call(const OpDef& def, const OpView& view);

} // namespace weft::ops
