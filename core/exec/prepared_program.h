// SPDX-License-Identifier: Apache-2.0
// A planned program with its kernels and pointers, ready to run. Private to core/exec.
#pragma once

#include "core/exec/kernel_call.h"
#include "core/plan/plan.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace weft::exec {

struct PreparedStep {
    const plan::Step* step = nullptr;
    int position = 0;
    int action = -1; // in PreparedProgram::actions; -1: of none
    std::optional<Kernel> kernel; // none for loops and exchanges
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    void* workspace = nullptr;
    bool moves = false;             // an operand's address depends on the iteration
    bool writes_state = false;      // an output lies in a state slot
    // Of the outermost steps, where exchanges may go beside computation (exchange_lane.h):
    bool beside = false;            // an exchange that does
    int behind = 0;                 // so many of them are done before it
    std::vector<PreparedStep> body; // loops
    std::vector<int> retires;       // buffers whose lifetime ends with this step
};

struct PreparedProgram {
    const plan::PlannedProgram* plan = nullptr;
    std::vector<PreparedStep> steps;
    std::vector<std::string_view> actions; // of a pipeline's schedule, in order
    int depth = 0;                         // of the deepest loop nest
    int runs = 0;  // counted as far as memory is watched
};

/// Creates the kernels that the plan names and resolves every address. Throws as Executor::prepare.
PreparedProgram prepare_program(const plan::PlannedProgram& program, std::byte* arena,
                                std::span<const weft_backend* const> backends);

/// Byte offset of an operand in the given iteration of the loops around it.
std::int64_t offset_of(const plan::Operand& operand, std::span<const std::int64_t> iterations);

} // namespace weft::exec
