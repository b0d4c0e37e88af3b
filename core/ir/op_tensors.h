// SPDX-License-Identifier: Apache-2.0
// Which operands of an op belong together.
#pragma once

#include "core/ir/program.h"

#include <ranges>

namespace weft::ir {

/// How many tensors a sweep is over; 1 of any other op.
inline std::size_t tensors_of(const Op& op) {
    return op.structured() ? static_cast<std::size_t>(op.attributes.integer("tensors", 1)) : 1;
}

/// The inputs that output number `output` is made of: those of its tensor.
inline auto inputs_beside(const Op& op, std::size_t output) {
    const std::size_t tensors = tensors_of(op);
    const std::size_t each = op.inputs.size() / tensors;
    const std::size_t first = output / (op.outputs.size() / tensors) * each;
    return std::views::iota(first, first + each);
}

} // namespace weft::ir
