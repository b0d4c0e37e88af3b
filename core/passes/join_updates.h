// SPDX-License-Identifier: Apache-2.0
// The same update of many parameters is one call, and so are copies of them.
#pragma once

#include "core/ir/program.h"

namespace weft::passes {

/// Elementwise groups and single ops of the update that do the same to tensors of the same types
/// become one `sweep`, in the place of the last of them, where none comes after another one. What
/// reads their results before then comes after it, and so does every exchange behind such a one:
/// the order of exchanges is that of all devices. Joined are also those that do the same to state
/// before the update, as far as nothing reads their results in between: copies of weights to
/// compute with. A program that reads no state stays as it is. The program is that of one stage: a
/// sweep has no layer that could say whose it is.
void join_updates(ir::Program& program);

} // namespace weft::passes
