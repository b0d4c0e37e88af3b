// SPDX-License-Identifier: Apache-2.0
#include "core/passes/round_operands.h"

#include "core/ops/op_def.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace weft::passes {
namespace {

using ir::Block;
using ir::DType;
using ir::Op;
using ir::ValueId;

constexpr std::int64_t kUnit = 16; // rows of 8-bit numbers are so many, or a multiple

bool takes_formats(const Op& op) {
    const auto& known = ops::op_def(op.kind).attributes;
    return std::any_of(known.begin(), known.end(),
                       [](const auto& attribute) { return attribute.name == "operands"; });
}

/// Only moves or rounds what it reads.
bool hands_on(const Op& op) {
    return op.kind == "reshape" || op.kind == "transpose" || op.kind == "cast";
}

void round_to_tf32(ir::Program& program) {
    ir::walk(program.body, [&program](Op& op) {
        if (!op.structured() && takes_formats(op) &&
            program.type(op.inputs[0]).dtype == DType::f32 &&
            program.type(op.inputs[1]).dtype == DType::f32) {
            op.attributes.set("operands", std::string("tf32"));
        }
    });
}

class EightBits {
public:
    explicit EightBits(ir::Program& program)
        : program_(program), is_gradient_(program.values.size()), inside_(program.values.size()) {}

    void run() {
        find_what_layers_read(program_.body);
        visit(program_.body);
    }

private:
    bool flag(const std::vector<bool>& of, ValueId id) const {
        return of[static_cast<std::size_t>(id.index)];
    }
    void set(std::vector<bool>& of, ValueId id, bool value) {
        of[static_cast<std::size_t>(id.index)] = value;
    }
    const ir::Type& type(ValueId id) const { return program_.type(id); }

    /// Values that reach a forward op whose results are in the compute type: not the loss's.
    void find_what_layers_read(const Block& block) {
        for (auto op = block.ops.rbegin(); op != block.ops.rend(); ++op) {
            if (op->phase != ir::Phase::forward) {
                continue;
            }
            if (op->is_loop()) {
                find_what_bodies_read(*op);
            }
            const bool reads =
                op->is_loop() || hands_on_inside(*op) || (!hands_on(*op) && gives_narrow(*op));
            for (const ValueId id : op->inputs) {
                set(inside_, id, flag(inside_, id) || reads);
            }
        }
    }
    void find_what_bodies_read(const Op& loop) {
        const Block& body = loop.body.front();
        const auto carried = static_cast<std::size_t>(loop.attributes.integer("carried"));
        for (std::size_t i = 0; i < body.results.size(); ++i) {
            const bool read = i < carried || flag(inside_, loop.outputs[i]);
            set(inside_, body.results[i], flag(inside_, body.results[i]) || read);
        }
        find_what_layers_read(body);
    }
    bool hands_on_inside(const Op& op) const {
        return hands_on(op) && flag(inside_, op.outputs[0]);
    }
    bool gives_narrow(const Op& op) const {
        return std::any_of(op.outputs.begin(), op.outputs.end(), [this](ValueId id) {
            return type(id).dtype == DType::bf16 || type(id).dtype == DType::f16;
        });
    }

    void visit(Block& block) {
        for (Op& op : block.ops) {
            if (op.is_loop()) {
                visit_loop(op);
            } else {
                round(op);
            }
            const bool gradient =
                hands_on(op) ? flag(is_gradient_, op.inputs[0]) : op.phase == ir::Phase::backward;
            for (const ValueId id : op.outputs) {
                set(is_gradient_, id, gradient);
            }
        }
    }

    /// What a loop of the backward pass carries is the gradient that it hands down.
    void visit_loop(Op& loop) {
        Block& body = loop.body.front();
        const auto carried = static_cast<std::size_t>(loop.attributes.integer("carried"));
        for (std::size_t i = 0; i < body.arguments.size(); ++i) {
            set(is_gradient_, body.arguments[i],
                i < carried ? loop.phase == ir::Phase::backward
                            : flag(is_gradient_, loop.inputs[i]));
        }
        visit(body);
    }

    void round(Op& op) {
        const bool layer = op.kind == "linear" && flag(inside_, op.outputs[0]);
        const bool gradient = op.kind == "matmul" && op.phase == ir::Phase::backward &&
                              layers_.contains(std::string_view(op.path));
        if ((!layer && !gradient) || !fits(op)) {
            return;
        }
        const bool x = flag(is_gradient_, op.inputs[0]);
        const bool y = flag(is_gradient_, op.inputs[1]);
        if (x && y) {
            return; // no unit multiplies two of e5m2
        }
        if (layer) {
            layers_.insert(std::string(op.path));
        }
        op.attributes.set("operands", std::string(x ? "e5m2" : "e4m3") + (y ? " e5m2" : " e4m3"));
    }

    bool fits(const Op& op) const {
        const ir::Type& x = type(op.inputs[0]);
        const ir::Type& y = type(op.inputs[1]);
        const bool turned = op.attributes.flag("transpose_x");
        if (x.dtype != DType::bf16 || y.dtype != DType::bf16 || y.shape.rank() != 2 ||
            (turned && x.shape.rank() != 2)) {
            return false;
        }
        const std::int64_t columns = type(op.outputs[0]).shape.back();
        return x.shape.back() % kUnit == 0 && columns % kUnit == 0 &&
               (!turned || x.shape[0] % kUnit == 0);
    }

    ir::Program& program_;
    std::vector<bool> is_gradient_; // [value]
    std::vector<bool> inside_;      // [value]
    std::set<std::string, std::less<>> layers_;
};

} // namespace

void round_operands(ir::Program& program, ir::Operands operands) {
    if (operands == ir::Operands::tf32) {
        round_to_tf32(program);
    } else if (operands == ir::Operands::fp8) {
        EightBits(program).run();
    }
}

} // namespace weft::passes
