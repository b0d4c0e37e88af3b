// SPDX-License-Identifier: Apache-2.0
// Full legality of a program: structure, known op kinds, attributes, arity, and output types equal to
// what each record infers. Run around every pass in debug builds and tests.
#pragma once

#include "core/ir/program.h"

#include <string>
#include <vector>

namespace weft::ops {

/// Every violation, one sentence each. Empty: legal.
std::vector<std::string> verify(const ir::Program& program);

} // namespace weft::ops
