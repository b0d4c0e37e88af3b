// SPDX-License-Identifier: Apache-2.0
// Products of operands that are rounded to fewer bits than they are stored with (attribute
// `operands`): what matrix units multiply fastest.
#pragma once

#include "core/ir/operands.h"
#include "core/ir/program.h"

namespace weft::passes {

/// tf32: all products and convolutions of f32. fp8, after apply_precision: the linear layers, but
/// the one whose result the loss reads, with their gradients' products; only sizes that matrix
/// units take, all of whose dimensions are multiples of 16 but the rows of x.
void round_operands(ir::Program& program, ir::Operands operands);

} // namespace weft::passes
