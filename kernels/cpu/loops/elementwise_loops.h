// SPDX-License-Identifier: Apache-2.0
// One vector loop per elementwise opcode, in float.
#pragma once

#include <cstdint>

namespace weft::kernels::cpu {

/// out[i] = f(a[i], b[i], c[i]); unused operands are not read. `out` may equal an operand.
using ElementwiseLoop = void (*)(const float* a, const float* b, const float* c, float* out,
                                 std::int64_t count, float scale, float shift);

/// The loop of a weft_elementwise opcode.
ElementwiseLoop elementwise_loop(std::int32_t opcode);

} // namespace weft::kernels::cpu
