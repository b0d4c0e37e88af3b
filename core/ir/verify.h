// SPDX-License-Identifier: Apache-2.0
// Structural legality of a program: every use has one earlier definition in scope, block and port
// lists agree, structured ops have the arity that their attributes state. What each op requires of its
// types is checked by ops::verify (core/ops/verify.h), which calls this first.
#pragma once

#include "core/ir/program.h"

#include <string>
#include <vector>

namespace weft::ir {

/// Every violation, one sentence each, naming op and value. Empty: legal.
std::vector<std::string> verify_structure(const Program& program);

} // namespace weft::ir
