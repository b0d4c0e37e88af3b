// SPDX-License-Identifier: Apache-2.0
// Generated source text made into kernels. program.cpp asks NVRTC; tests/kernels/emulation has
// compiled the text with the host compiler.
#pragma once

#include "kernels/cuda/wrappers/runtime.h"

#include <span>
#include <string>

namespace weft::kernels::cuda {

/// An entry point with one parameter, words by value.
class Program {
public:
    Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    virtual ~Program() = default;
    /// Throws Failure.
    virtual void launch(weft_stream* stream, const Grid& grid,
                        std::span<const std::uint64_t> words) const = 0;
};

/// The entry point `name` of `text`, which is written on elementwise_functions.h. Compiled once in
/// a process, as a name stands for one text; lives as long as the process. Any thread. Throws
/// Failure.
const Program& compiled_program(const std::string& name, const std::string& text);

} // namespace weft::kernels::cuda
