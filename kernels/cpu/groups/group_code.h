// SPDX-License-Identifier: Apache-2.0
// Machine code for a group of elementwise steps. All values of sixteen elements stay in registers
// from their first read to their last store (on the stack where there are too many), so a group
// touches memory for its inputs and outputs alone.
#pragma once

#include "kernels/elementwise.h"

#include <memory>

namespace weft::kernels::cpu {

/// What the code depends on; scale and shift of the steps are arguments.
struct GroupForm {
    struct In {
        bool number; // one for all elements
        std::int32_t dtype;
    };
    std::vector<In> inputs;
    std::vector<Step> steps;
    std::vector<int> output_registers;
    std::vector<std::int32_t> output_dtypes;
};

/// `pointers`: of the inputs' and the outputs' first element. `constants`: scale and shift of each
/// step. An output may lie over an input of its type.
using GroupFunction = void (*)(const void* const* pointers, const float* constants,
                               std::int64_t count);

class GroupCode {
public:
    virtual ~GroupCode() = default;
    GroupFunction function = nullptr;
};

/// Whether this machine runs such code (AVX-512 F, BW, DQ, VL).
bool machine_runs_group_code();

/// The code of a form, made once for all kernels that are alike and kept: there are few forms. From
/// any thread. Throws UNSUPPORTED.
std::shared_ptr<const GroupCode> code_of(const GroupForm& form);

} // namespace weft::kernels::cpu
