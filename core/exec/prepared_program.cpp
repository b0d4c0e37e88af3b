// SPDX-License-Identifier: Apache-2.0
#include "core/exec/prepared_program.h"

#include "core/base/error.h"
#include "core/ops/op_def.h"

#include <algorithm>

namespace weft::exec {
namespace {

/// The step's op as a program of its own, which is what kernel descriptions are made from.
KernelDesc describe_step(const plan::Step& step) {
    ir::Program alone;
    for (const plan::Operand& operand : step.inputs) {
        alone.add_value(operand.type);
    }
    for (const plan::Operand& operand : step.outputs) {
        alone.add_value(operand.type);
    }
    for (const ir::Type& type : step.body_types) {
        alone.add_value(type);
    }
    return KernelDesc(alone, step.op);
}

class Preparer {
public:
    Preparer(const plan::PlannedProgram& program, std::byte* arena,
             std::span<const weft_backend* const> backends)
        : program_(program), arena_(arena), backends_(backends) {}

    PreparedProgram run() {
        PreparedProgram out;
        out.plan = &program_;
        out.steps = prepare(program_.steps, 1);
        out.depth = depth_;
        out.actions = number_actions(out.steps);
        for (const plan::PlannedPort& port : program_.results) {
            read_by_host_.push_back(port.operand.buffer);
        }
        for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
            retire(static_cast<int>(i), out.steps);
        }
        return out;
    }

private:
    std::vector<PreparedStep> prepare(const std::vector<plan::Step>& steps, int depth) {
        std::vector<PreparedStep> out;
        out.reserve(steps.size());
        for (const plan::Step& step : steps) {
            PreparedStep& prepared = out.emplace_back();
            prepared.step = &step;
            prepared.position = position_++;
            if (step.is_loop()) {
                depth_ = std::max(depth_, depth);
                prepared.body = prepare(step.steps, depth + 1);
            } else {
                leaf(prepared);
            }
        }
        return out;
    }

    /// The ops of an action stand together.
    static std::vector<std::string_view> number_actions(std::vector<PreparedStep>& steps) {
        std::vector<std::string_view> out;
        for (PreparedStep& step : steps) {
            const std::string& action = step.step->op.action;
            if (action.empty()) {
                continue;
            }
            if (out.empty() || out.back() != action) {
                out.push_back(action);
            }
            step.action = static_cast<int>(out.size()) - 1;
        }
        return out;
    }

    void leaf(PreparedStep& prepared) const {
        const plan::Step& step = *prepared.step;
        if (!ops::op_def(step.op.kind).collective) {
            prepared.kernel.emplace(kernel(step));
        }
        const auto moves = [](const plan::Operand& operand) { return !operand.strides.empty(); };
        for (const plan::Operand& operand : step.inputs) {
            prepared.inputs.push_back(arena_ + operand.offset);
            prepared.moves = prepared.moves || moves(operand);
        }
        for (const plan::Operand& operand : step.outputs) {
            prepared.outputs.push_back(arena_ + operand.offset);
            prepared.moves = prepared.moves || moves(operand);
            prepared.writes_state = prepared.writes_state || buffer(operand.buffer).is_state;
        }
        if (step.workspace.buffer >= 0) {
            prepared.workspace = arena_ + step.workspace.offset;
        }
    }

    const plan::Buffer& buffer(int index) const {
        return program_.buffers[static_cast<std::size_t>(index)];
    }

    Kernel kernel(const plan::Step& step) const {
        const KernelDesc desc = describe_step(step);
        for (const Candidate& candidate : candidates(desc, backends_)) {
            if (candidate.backend->name != step.backend) {
                continue;
            }
            Kernel made(desc, candidate);
            const std::int64_t planned =
                step.workspace.buffer < 0 ? 0 : step.workspace.type.bytes();
            if (made.workspace_bytes() > planned) {
                throw Error(ErrorKind::runtime, desc.where(),
                            "the kernel asks for more workspace than the plan holds for it",
                            "make the plan with the libraries and the thread count of this run");
            }
            return made;
        }
        throw Error(ErrorKind::runtime, desc.where(),
                    step.backend.empty()
                        ? "the plan was made for other hardware and cannot run here"
                        : "back end '" + step.backend + "' is not available here",
                    "make the plan again on this machine");
    }

    /// Lifetimes end with a step of the innermost loop that holds all of the lifetime.
    void retire(int index, std::vector<PreparedStep>& steps) const {
        const plan::Buffer& own = buffer(index);
        const bool read =
            std::find(read_by_host_.begin(), read_by_host_.end(), index) != read_by_host_.end();
        if (own.is_state || own.category == plan::Category::workspace || read) {
            return;
        }
        std::vector<PreparedStep>* block = &steps;
        while (true) {
            const auto after = std::upper_bound(
                block->begin(), block->end(), own.last_step,
                [](int position, const PreparedStep& step) { return position < step.position; });
            if (after == block->begin()) {
                return;
            }
            PreparedStep& last = *(after - 1);
            if (last.body.empty() || own.first_step <= last.position) {
                last.retires.push_back(index);
                return;
            }
            block = &last.body;
        }
    }

    const plan::PlannedProgram& program_;
    std::byte* arena_;
    std::span<const weft_backend* const> backends_;
    std::vector<int> read_by_host_;
    int position_ = 0;
    int depth_ = 0;
};

} // namespace

PreparedProgram prepare_program(const plan::PlannedProgram& program, std::byte* arena,
                                std::span<const weft_backend* const> backends) {
    return Preparer(program, arena, backends).run();
}

std::int64_t offset_of(const plan::Operand& operand, std::span<const std::int64_t> iterations) {
    std::int64_t offset = operand.offset;
    for (std::size_t depth = 0; depth < operand.strides.size(); ++depth) {
        offset += operand.strides[depth] * iterations[depth];
    }
    return offset;
}

} // namespace weft::exec
