// SPDX-License-Identifier: Apache-2.0
// What products round their operands to.
#pragma once

#include <cstdint>

namespace weft::ir {

/// Numbers are multiplied as they are stored, or rounded to what matrix units multiply faster.
enum class Operands : std::uint8_t {
    as_stored,
    tf32, // f32 with 10 bits behind the first
    fp8,  // e4m3, gradients e5m2 (Micikevicius et al., 2022), each operand scaled by its largest
};

} // namespace weft::ir
