// SPDX-License-Identifier: Apache-2.0
#include "core/exec/routing.h"

#include <algorithm>

namespace weft::exec {
namespace {

using ir::Op;
using ir::ValueId;

bool is_choice(const ir::Program& program, const Op& op, ValueId output) {
    return program.type(output).dtype == ir::DType::i32 && op.kind != "cast" &&
           std::any_of(op.inputs.begin(), op.inputs.end(),
                       [&](ValueId input) { return ir::is_float(program.type(input).dtype); });
}

bool block_makes_choices(const ir::Program& program, const ir::Block& block) {
    return std::any_of(block.ops.begin(), block.ops.end(), [&](const Op& op) {
        const bool body = std::any_of(op.body.begin(), op.body.end(), [&](const ir::Block& inner) {
            return block_makes_choices(program, inner);
        });
        return body || (!op.structured() &&
                        std::any_of(op.outputs.begin(), op.outputs.end(),
                                    [&](ValueId id) { return is_choice(program, op, id); }));
    });
}

void run_and_note(Interpreter& interpreter, const ir::Block& block,
                  std::vector<std::int32_t>& choices) {
    const ir::Program& program = interpreter.program();
    for (const Op& op : block.ops) {
        if (op.is_loop()) {
            Interpreter::Loop loop(interpreter, op);
            for (std::int64_t step = 0; step < loop.count(); ++step) {
                loop.begin_iteration(step);
                run_and_note(interpreter, loop.body(), choices);
                loop.end_iteration(step);
            }
            loop.finish();
            continue;
        }
        interpreter.run(op);
        for (const ValueId output : op.outputs) {
            if (is_choice(program, op, output)) {
                const auto made = interpreter.at(0, output).span<std::int32_t>();
                choices.insert(choices.end(), made.begin(), made.end());
            }
        }
    }
}

} // namespace

bool makes_choices(const ir::Program& program) {
    return block_makes_choices(program, program.body);
}

std::vector<std::int32_t> choices_of(Interpreter& interpreter, std::span<const Tensor> arguments) {
    const ir::Program& program = interpreter.program();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        interpreter.at(0, program.arguments[i].value) = arguments[i];
    }
    std::vector<std::int32_t> out;
    run_and_note(interpreter, program.body, out);
    return out;
}

} // namespace weft::exec
