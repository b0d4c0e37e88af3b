// SPDX-License-Identifier: Apache-2.0
// The slow, obvious executor: evaluates a program value by value, each in its own allocation, loops
// by plain recursion. It is the oracle of the planned executor and the engine of the op tests.
#pragma once

#include "core/ir/program.h"
#include "kernels/weft_kernels.h"

#include <cstddef>
#include <span>
#include <vector>

namespace weft::exec {

/// A host array: dense, row-major, owned.
struct Tensor {
    ir::Type type;
    std::vector<std::byte> data;

    Tensor() = default;
    /// Zeros.
    explicit Tensor(ir::Type tensor_type)
        : type(tensor_type), data(static_cast<std::size_t>(tensor_type.bytes())) {}

    /// The elements as T, whose size must be that of the element type.
    template <typename T>
    std::span<T> span() {
        WEFT_CHECK(sizeof(T) == static_cast<std::size_t>(ir::dtype_bytes(type.dtype)),
                   "a tensor is read as its own element type");
        return {reinterpret_cast<T*>(data.data()), data.size() / sizeof(T)};
    }
    template <typename T>
    std::span<const T> span() const {
        return const_cast<Tensor*>(this)->span<T>();
    }
};

struct InterpretOptions {
    /// Back ends in order of preference; empty: the reference kernels alone.
    std::vector<const weft_backend*> backends;
};

/// Runs the program on one tensor per argument and returns one per result. Throws
/// weft::Error{usage} when an argument does not have the program's type.
std::vector<Tensor> interpret(const ir::Program& program, std::span<const Tensor> arguments,
                              const InterpretOptions& options = {});

} // namespace weft::exec
