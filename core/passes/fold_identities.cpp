// SPDX-License-Identifier: Apache-2.0
#include "core/ops/op_def.h"
#include "core/passes/rewrite.h"
#include "core/passes/simplify.h"
#include "kernels/numbers.h"
#include "kernels/weft_kernels.h"

#include <cmath>
#include <map>

namespace weft::passes {
namespace {

using ir::Op;
using ir::ValueId;

/// The number that `constant` writes: its value in the element type.
double stored(double value, ir::DType dtype) {
    switch (dtype) {
    case ir::DType::f32: return static_cast<double>(static_cast<float>(value));
    case ir::DType::bf16:
        return static_cast<double>(kernels::round_to_bf16(static_cast<float>(value)));
    case ir::DType::f16:
        return static_cast<double>(kernels::round_to_f16(static_cast<float>(value)));
    case ir::DType::f64: return value;
    default: return std::trunc(value);
    }
}

/// Every value of `from` is one of `to`.
bool lossless(ir::DType from, ir::DType to) {
    using enum ir::DType;
    if (from == to) {
        return true;
    }
    return ((from == bf16 || from == f16) && (to == f32 || to == f64)) ||
           (from == f32 && to == f64) || (from == u8 && to != bf16 && to != f16) ||
           (from == i32 && (to == i64 || to == f64));
}

class Folder {
public:
    explicit Folder(ir::Program& program) : program_(program) {}

    bool run() {
        visit(program_.body);
        replaced_.apply(program_);
        return changed_;
    }

private:
    void visit(ir::Block& block) {
        for (Op& op : block.ops) {
            for (ValueId& input : op.inputs) {
                input = replaced_.resolve(input);
            }
            if (op.kind == "fused") {
                continue;
            }
            for (ir::Block& body : op.body) {
                const auto outside = relus_;
                visit(body);
                relus_ = outside; // what a body makes is not in scope behind it
            }
            fold(op);
            remember(op);
        }
    }

    const ir::Type& type(ValueId id) const { return program_.type(id); }

    void replace(const Op& op, ValueId by) {
        if (type(by) == type(op.outputs[0])) {
            replaced_.set(op.outputs[0], by);
            changed_ = true;
        }
    }

    void fold(Op& op) {
        if (op.inputs.empty() || op.outputs.size() != 1) {
            return;
        }
        const ops::OpDef* def = ops::find_op(op.kind);
        if (def != nullptr && def->elementwise >= 0) {
            fold_elementwise(op, def->elementwise);
        } else {
            fold_structure(op);
        }
    }

    void fold_elementwise(Op& op, int opcode) {
        switch (opcode) {
        case WEFT_EW_CAST: fold_cast(op); break;
        case WEFT_EW_AFFINE:
            if (op.attributes.real("scale") == 1.0 && op.attributes.real("shift") == 0.0) {
                replace(op, op.inputs[0]);
            }
            break;
        case WEFT_EW_ADD:
            if (is_constant(op.inputs[0], 0.0)) {
                replace(op, op.inputs[1]);
            } else if (is_constant(op.inputs[1], 0.0)) {
                replace(op, op.inputs[0]);
            } else {
                to_affine(op, [](double c) { return std::pair(1.0, c); });
            }
            break;
        case WEFT_EW_SUB:
            if (is_constant(op.inputs[1], 0.0)) {
                replace(op, op.inputs[0]);
            }
            break;
        case WEFT_EW_MUL:
            if (is_constant(op.inputs[0], 1.0)) {
                replace(op, op.inputs[1]);
            } else if (is_constant(op.inputs[1], 1.0)) {
                replace(op, op.inputs[0]);
            } else {
                // x * 0 is not 0 where x is infinite or NaN, so it stays a product.
                to_affine(op, [](double c) { return std::pair(c, 0.0); });
            }
            break;
        case WEFT_EW_RELU_GRAD:
            // relu(x) is positive where x is, so that x need not be kept beside it.
            if (const auto found = relus_.find(op.inputs[0]); found != relus_.end()) {
                op.inputs[0] = found->second;
                changed_ = true;
            }
            break;
        case WEFT_EW_DIV:
            if (is_constant(op.inputs[1], 1.0)) {
                replace(op, op.inputs[0]);
            }
            break;
        default: break;
        }
    }

    void fold_cast(Op& op) {
        const ValueId source = op.inputs[0];
        replace(op, source);
        if (const auto found = casts_.find(source);
            found != casts_.end() && lossless(type(found->second).dtype, type(source).dtype)) {
            op.inputs[0] = found->second;
            replace(op, found->second);
            changed_ = true;
        } else if (const auto number = constants_.find(source); number != constants_.end()) {
            const ir::Type& out = type(op.outputs[0]);
            op.kind = "constant";
            op.inputs.clear();
            op.attributes = {{"value", number->second},
                             {"dtype", std::string(ir::dtype_name(out.dtype))},
                             {"shape", list_of(out.shape)}};
            changed_ = true;
        }
    }

    void fold_structure(Op& op) {
        const bool unchanged_shape = type(op.inputs[0]) == type(op.outputs[0]);
        if (op.kind == "copy" || op.kind == "stop_gradient") {
            replace(op, op.inputs[0]);
        } else if (op.kind == "reshape") {
            replace(op, op.inputs[0]);
            const auto found = reshapes_.find(op.inputs[0]);
            if (found != reshapes_.end()) {
                op.inputs[0] = found->second;
                replace(op, found->second);
                changed_ = true;
            }
        } else if ((op.kind == "broadcast" || op.kind == "slice" || op.kind == "pad") &&
                   unchanged_shape) {
            replace(op, op.inputs[0]);
        } else if (op.kind == "transpose") {
            const auto& permutation = op.attributes.list("permutation");
            if (std::is_sorted(permutation.begin(), permutation.end())) {
                replace(op, op.inputs[0]);
            }
        }
    }

    bool is_constant(ValueId id, double number) const {
        const auto found = constants_.find(id);
        return found != constants_.end() && found->second == number;
    }

    /// op(x, scalar constant) or op(scalar constant, x) -> affine(x), where the types allow it.
    template <typename Coefficients>
    void to_affine(Op& op, Coefficients coefficients) {
        for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
            const auto number = constants_.find(op.inputs[side]);
            const ValueId x = op.inputs[1 - side];
            const bool scalar = type(op.inputs[side]).shape.elements() == 1;
            if (number == constants_.end() || !scalar || type(x) != type(op.outputs[0]) ||
                type(op.inputs[side]).dtype != type(x).dtype) {
                continue;
            }
            const auto [scale, shift] = coefficients(number->second);
            op.kind = "affine";
            op.inputs = {x};
            op.attributes = {{"scale", scale}, {"shift", shift}};
            changed_ = true;
            return;
        }
    }

    void remember(const Op& op) {
        if (op.kind == "constant") {
            const ir::DType dtype = type(op.outputs[0]).dtype;
            constants_[op.outputs[0]] = stored(op.attributes.real("value"), dtype);
        } else if (op.kind == "reshape") {
            reshapes_[op.outputs[0]] = op.inputs[0];
        } else if (op.kind == "cast") {
            casts_[op.outputs[0]] = op.inputs[0];
        } else if (op.kind == "relu") {
            relus_[op.inputs[0]] = op.outputs[0];
        }
    }

    ir::Program& program_;
    Replacements replaced_;
    std::map<ValueId, double> constants_;
    std::map<ValueId, ValueId> reshapes_;
    std::map<ValueId, ValueId> casts_;
    std::map<ValueId, ValueId> relus_; // operand -> result
    bool changed_ = false;
};

} // namespace

bool fold_identities(ir::Program& program) {
    return Folder(program).run();
}

} // namespace weft::passes
