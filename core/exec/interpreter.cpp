// SPDX-License-Identifier: Apache-2.0
#include "core/exec/interpreter.h"

#include "core/base/error.h"
#include "core/exec/kernel_call.h"
#include "core/ops/op_def.h"

#include <cstring>
#include <map>
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

class Interpreter {
public:
    Interpreter(const ir::Program& program, const InterpretOptions& options)
        : program_(program), backends_(options.backends), values_(program.values.size()) {
        if (backends_.empty()) {
            backends_.push_back(weft_reference_backend());
        }
    }

    const Tensor& get(ValueId id) const { return values_[static_cast<std::size_t>(id.index)]; }
    void set(ValueId id, Tensor tensor) {
        values_[static_cast<std::size_t>(id.index)] = std::move(tensor);
    }

    void run(const ir::Block& block) {
        for (const ir::Op& op : block.ops) {
            if (op.kind == "repeat") {
                run_repeat(op);
            } else {
                run_kernel(op);
            }
        }
    }

private:
    // Kernels are prepared once per op: a loop body runs many times.
    const Kernel& kernel_of(const ir::Op& op) {
        const auto found = kernels_.find(&op);
        if (found != kernels_.end()) {
            return found->second;
        }
        const KernelDesc call(program_, op);
        return kernels_.emplace(&op, Kernel(call, choose_backend(call, backends_))).first->second;
    }

    void run_kernel(const ir::Op& op) {
        const Kernel& kernel = kernel_of(op);
        std::vector<std::unique_ptr<AlignedBytes>> buffers;
        std::vector<const void*> inputs;
        std::vector<void*> outputs;
        for (const ValueId input : op.inputs) {
            const std::vector<std::byte>& data = get(input).data;
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
            set(op.outputs[i], std::move(result));
        }
    }

    void run_repeat(const ir::Op& op) {
        const ir::Block& body = op.body[0];
        const auto carried = static_cast<std::size_t>(op.attributes.integer("carried"));
        const std::int64_t count = op.attributes.integer("count");
        const bool reverse = op.attributes.flag("reverse");
        std::vector<Tensor> state;
        for (std::size_t i = 0; i < carried; ++i) {
            state.push_back(get(op.inputs[i]));
        }
        std::vector<Tensor> stacked;
        for (std::size_t i = carried; i < op.outputs.size(); ++i) {
            stacked.emplace_back(program_.type(op.outputs[i]));
        }
        for (std::int64_t step = 0; step < count; ++step) {
            const auto at = static_cast<std::size_t>(reverse ? count - 1 - step : step);
            for (std::size_t i = 0; i < body.arguments.size(); ++i) {
                set(body.arguments[i],
                    i < carried ? state[i] : slice(get(op.inputs[i]), body.arguments[i], at));
            }
            run(body);
            for (std::size_t i = 0; i < body.results.size(); ++i) {
                const Tensor& result = get(body.results[i]);
                if (i < carried) {
                    state[i] = result;
                } else {
                    std::copy(result.data.begin(), result.data.end(),
                              stacked[i - carried].data.begin() +
                                  static_cast<std::ptrdiff_t>(at * result.data.size()));
                }
            }
        }
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            set(op.outputs[i], std::move(i < carried ? state[i] : stacked[i - carried]));
        }
    }

    Tensor slice(const Tensor& whole, ValueId argument, std::size_t at) const {
        Tensor out(program_.type(argument));
        const auto from = whole.data.begin() + static_cast<std::ptrdiff_t>(at * out.data.size());
        std::copy(from, from + std::ssize(out.data), out.data.begin());
        return out;
    }

    const ir::Program& program_;
    std::vector<const weft_backend*> backends_;
    std::vector<Tensor> values_;
    std::map<const ir::Op*, Kernel> kernels_;
};

} // namespace

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
        interpreter.set(port.value, arguments[i]);
    }
    interpreter.run(program.body);
    std::vector<Tensor> results;
    for (const ir::Port& port : program.results) {
        results.push_back(interpreter.get(port.value));
    }
    return results;
}

} // namespace weft::exec
