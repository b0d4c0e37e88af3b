// SPDX-License-Identifier: Apache-2.0
// The same update of many parameters is one call.
#pragma once

#include "core/passes/op_groups.h"

namespace weft::passes {

/// Elementwise groups and single ops of the update that do the same to tensors of the same types
/// become one `sweep`, in the place of the last of them, where none depends on another. What reads
/// their results before then comes after it. Of one group of `kinds`.
void join_updates(ir::Program& program, const OpGroups& kinds = one_group);

} // namespace weft::passes
