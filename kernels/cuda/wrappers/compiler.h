// SPDX-License-Identifier: Apache-2.0
// Machine code of generated text, by NVRTC. No GPU takes part.
#pragma once

#include "kernels/op.h"

namespace weft::kernels::cuda {

struct MachineCode {
    std::vector<char> code;
    std::string report; // what ptxas says of its kernels
};

/// Of `text`, which is written on elementwise_functions.h, for a compute capability, "90". Any
/// thread. Throws Failure.
MachineCode machine_code(const std::string& text, const std::string& capability);

/// What else the code hangs on: the compiler's version and options, and the headers.
std::string compiler_identity();

} // namespace weft::kernels::cuda
