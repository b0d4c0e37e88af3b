// SPDX-License-Identifier: Apache-2.0
// The slow, obvious executor: evaluates a program value by value, each in its own allocation, loops
// by plain recursion. It is the oracle of the planned executor and the engine of the op tests.
//
// Interpreter runs one program on several devices in step, op by op, each with values of its own:
// what a mesh does can be watched and compared after every op (mesh_interpreter.h, compare_mesh.h).
#pragma once

#include "core/exec/kernel_call.h"
#include "core/ir/program.h"
#include "kernels/weft_kernels.h"

#include <cstddef>
#include <functional>
#include <map>
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

class Interpreter {
public:
    /// Runs an op that exchanges data between devices, all of them together.
    using Exchange = std::function<void(Interpreter&, const ir::Op&)>;

    /// The program must outlive the interpreter; `exchange` may be empty where no op needs it.
    Interpreter(const ir::Program& program, const InterpretOptions& options, int devices = 1,
                Exchange exchange = {});

    const ir::Program& program() const { return program_; }
    int devices() const { return static_cast<int>(values_.size()); }
    Tensor& at(int device, ir::ValueId id);
    /// Frees the value's memory on all devices. It may be made again.
    void forget(ir::ValueId id);

    void run(const ir::Block& block);
    /// On every device; a loop with all its iterations.
    void run(const ir::Op& op);

    /// A loop under way, for who wants to see every op of its body: between begin_iteration and
    /// end_iteration the body's ops are run one by one.
    class Loop {
    public:
        Loop(Interpreter& interpreter, const ir::Op& op);
        std::int64_t count() const { return count_; }
        const ir::Block& body() const { return op_.body[0]; }
        void begin_iteration(std::int64_t step);
        void end_iteration(std::int64_t step);
        void finish(); // makes the loop's outputs

    private:
        struct Carried {
            std::vector<Tensor> state;
            std::vector<Tensor> stacked;
        };
        std::size_t place(std::int64_t step) const;

        Interpreter& interpreter_;
        const ir::Op& op_;
        std::size_t carried_;
        std::int64_t count_;
        bool reverse_;
        std::vector<Carried> devices_;
    };

private:
    const Kernel& kernel_of(const ir::Op& op);
    void compute(const ir::Op& op, int device);

    const ir::Program& program_;
    std::vector<const weft_backend*> backends_;
    Exchange exchange_;
    std::vector<std::vector<Tensor>> values_; // [device][value]
    std::map<const ir::Op*, Kernel> kernels_; // prepared once: a loop body runs many times
};

/// Runs the program on one tensor per argument and returns one per result. Throws
/// weft::Error{usage} when an argument does not have the program's type.
std::vector<Tensor> interpret(const ir::Program& program, std::span<const Tensor> arguments,
                              const InterpretOptions& options = {});

} // namespace weft::exec
