// SPDX-License-Identifier: Apache-2.0
#include "core/exec/interpreter.h"

#include "core/base/error.h"
#include "core/ops/op_def.h"

#include <cstring>
#include <memory>

namespace weft::exec {
namespace {

using ir::ValueId;

constexpr std::size_t kAlignment = 64;

// Kernels may use aligned loads, which std::vector<std::byte> does not promise.
class AlignedBytes {
public:
    explicit AlignedBytes(std::int64_t bytes)
        : storage_(static_cast<std::size_t>(bytes) + kAlignment) {}
    AlignedBytes(const AlignedBytes&) = delete;
    AlignedBytes& operator=(const AlignedBytes&) = delete;

    void* data() {
        void* start = storage_.data();
        std::size_t space = storage_.size();
        return std::align(kAlignment, space - kAlignment, start, space);
    }

private:
    std::vector<std::byte> storage_;
};

Tensor slice(const Tensor& whole, const ir::Type& type, std::size_t at) {
    Tensor out(type);
    const auto from = whole.data.begin() + static_cast<std::ptrdiff_t>(at * out.data.size());
    std::copy(from, from + std::ssize(out.data), out.data.begin());
    return out;
}

} // namespace

Interpreter::Interpreter(const ir::Program& program, const InterpretOptions& options, int devices,
                         Exchange exchange)
    : program_(program), backends_(options.backends), exchange_(std::move(exchange)),
      values_(static_cast<std::size_t>(devices), std::vector<Tensor>(program.values.size())) {
    if (backends_.empty()) {
        backends_.push_back(weft_reference_backend());
    }
}

Tensor& Interpreter::at(int device, ValueId id) {
    return values_[static_cast<std::size_t>(device)][static_cast<std::size_t>(id.index)];
}

void Interpreter::forget(ValueId id) {
    for (int device = 0; device < devices(); ++device) {
        at(device, id) = Tensor();
    }
}

void Interpreter::run(const ir::Block& block) {
    for (const ir::Op& op : block.ops) {
        run(op);
    }
}

void Interpreter::run(const ir::Op& op) {
    if (op.is_loop()) {
        Loop loop(*this, op);
        for (std::int64_t step = 0; step < loop.count(); ++step) {
            loop.begin_iteration(step);
            run(loop.body());
            loop.end_iteration(step);
        }
        loop.finish();
    } else if (ops::op_def(op.kind).collective) {
        WEFT_CHECK(exchange_ != nullptr, "a program with exchanges is interpreted on a mesh");
        exchange_(*this, op);
    } else {
        for (int device = 0; device < devices(); ++device) {
            compute(op, device);
        }
    }
}

const Kernel& Interpreter::kernel_of(const ir::Op& op) {
    const auto found = kernels_.find(&op);
    if (found != kernels_.end()) {
        return found->second;
    }
    const KernelDesc call(program_, op);
    return kernels_.emplace(&op, Kernel(call, choose_backend(call, backends_))).first->second;
}

void Interpreter::compute(const ir::Op& op, int device) {
    const Kernel& kernel = kernel_of(op);
    std::vector<std::unique_ptr<AlignedBytes>> buffers;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (const ValueId input : op.inputs) {
        const std::vector<std::byte>& data = at(device, input).data;
        buffers.push_back(std::make_unique<AlignedBytes>(std::ssize(data)));
        void* const copy = buffers.back()->data();
        std::copy(data.begin(), data.end(), static_cast<std::byte*>(copy));
        inputs.push_back(copy);
    }
    for (const ValueId output : op.outputs) {
        buffers.push_back(std::make_unique<AlignedBytes>(program_.type(output).bytes()));
        outputs.push_back(buffers.back()->data());
    }
    AlignedBytes workspace(kernel.workspace_bytes());
    kernel.run(inputs.data(), outputs.data(), workspace.data());
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        Tensor result(program_.type(op.outputs[i]));
        const auto* from = static_cast<const std::byte*>(outputs[i]);
        std::copy(from, from + result.data.size(), result.data.begin());
        at(device, op.outputs[i]) = std::move(result);
    }
}

Interpreter::Loop::Loop(Interpreter& interpreter, const ir::Op& op)
    : interpreter_(interpreter), op_(op),
      carried_(static_cast<std::size_t>(op.attributes.integer("carried"))),
      count_(op.attributes.integer("count")), reverse_(op.attributes.flag("reverse")),
      devices_(static_cast<std::size_t>(interpreter.devices())) {
    for (int device = 0; device < interpreter.devices(); ++device) {
        Carried& own = devices_[static_cast<std::size_t>(device)];
        for (std::size_t i = 0; i < carried_; ++i) {
            own.state.push_back(interpreter.at(device, op.inputs[i]));
        }
        for (std::size_t i = carried_; i < op.outputs.size(); ++i) {
            own.stacked.emplace_back(interpreter.program().type(op.outputs[i]));
        }
    }
}

std::size_t Interpreter::Loop::place(std::int64_t step) const {
    return static_cast<std::size_t>(reverse_ ? count_ - 1 - step : step);
}

void Interpreter::Loop::begin_iteration(std::int64_t step) {
    for (int device = 0; device < interpreter_.devices(); ++device) {
        for (std::size_t i = 0; i < body().arguments.size(); ++i) {
            const ValueId argument = body().arguments[i];
            interpreter_.at(device, argument) =
                i < carried_ ? devices_[static_cast<std::size_t>(device)].state[i]
                             : slice(interpreter_.at(device, op_.inputs[i]),
                                     interpreter_.program().type(argument), place(step));
        }
    }
}

void Interpreter::Loop::end_iteration(std::int64_t step) {
    for (int device = 0; device < interpreter_.devices(); ++device) {
        Carried& own = devices_[static_cast<std::size_t>(device)];
        for (std::size_t i = 0; i < body().results.size(); ++i) {
            const Tensor& result = interpreter_.at(device, body().results[i]);
            if (i < carried_) {
                own.state[i] = result;
            } else {
                std::copy(result.data.begin(), result.data.end(),
                          own.stacked[i - carried_].data.begin() +
                              static_cast<std::ptrdiff_t>(place(step) * result.data.size()));
            }
        }
    }
}

void Interpreter::Loop::finish() {
    for (int device = 0; device < interpreter_.devices(); ++device) {
        Carried& own = devices_[static_cast<std::size_t>(device)];
        for (std::size_t i = 0; i < op_.outputs.size(); ++i) {
            interpreter_.at(device, op_.outputs[i]) =
                std::move(i < carried_ ? own.state[i] : own.stacked[i - carried_]);
        }
    }
}

std::vector<Tensor> interpret(const ir::Program& program, std::span<const Tensor> arguments,
                              const InterpretOptions& options) {
    if (arguments.size() != program.arguments.size()) {
        throw Error(ErrorKind::usage, program.name,
                    "takes " + std::to_string(program.arguments.size()) +
                        (program.arguments.size() == 1 ? " argument" : " arguments") +
                        ", but got " + std::to_string(arguments.size()));
    }
    Interpreter interpreter(program, options);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ir::Port& port = program.arguments[i];
        if (arguments[i].type != program.type(port.value)) {
            throw Error(ErrorKind::usage, program.name,
                        "argument '" + port.name + "' must be " +
                            ir::to_text(program.type(port.value)) + ", but is " +
                            ir::to_text(arguments[i].type));
        }
        interpreter.at(0, port.value) = arguments[i];
    }
    interpreter.run(program.body);
    std::vector<Tensor> results;
    for (const ir::Port& port : program.results) {
        results.push_back(interpreter.at(0, port.value));
    }
    return results;
}

} // namespace weft::exec
