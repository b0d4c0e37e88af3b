// SPDX-License-Identifier: Apache-2.0
// Choices that a model makes: which experts take a token. They jump where what they rest on moves
// by a rounding, and all that follows jumps with them.
#pragma once

#include "core/exec/interpreter.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft::exec {

/// Whether the program makes indices out of numbers.
bool makes_choices(const ir::Program& program);
/// Every index that it makes out of numbers, in order of execution. Runs the program.
std::vector<std::int32_t> choices_of(Interpreter& interpreter, std::span<const Tensor> arguments);

} // namespace weft::exec
