// SPDX-License-Identifier: Apache-2.0
#include "core/passes/fuse_epilogues.h"

#include "core/ops/op_def.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::passes {
namespace {

using ir::Block;
using ir::DType;
using ir::Op;
using ir::ValueId;

/// Makes `op` one of another kind, with the attributes that it has, too.
void turn_into(std::string_view kind, Op& op) {
    ir::Attributes kept;
    for (const auto& [name, value] : op.attributes) {
        for (const ops::AttributeDef& known : ops::op_def(kind).attributes) {
            if (known.name == name) {
                kept.set(name, value);
            }
        }
    }
    op.kind = kind;
    op.attributes = std::move(kept);
}

class EpilogueFuser {
public:
    EpilogueFuser(ir::Program& program, Block& block, const OpGroups& kinds,
                  const HasKernel& has_kernel)
        : program_(program), block_(block), kinds_(kinds), has_kernel_(has_kernel),
          readers_(program.values.size()), maker_(program.values.size(), kNowhere),
          gone_(block.ops.size()) {}

    void run() {
        find_uses();
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            const Op& op = block_.ops[at];
            if (op.kind == "linear") {
                add_gelu(at);
            } else if (op.kind == "matmul") {
                add_gelu_grad(at) || add_sums(at) || add_to_sum(at);
            }
        }
        std::vector<Op> left;
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            if (!gone_[at]) {
                left.push_back(std::move(block_.ops[at]));
            }
        }
        block_.ops = std::move(left);
    }

private:
    static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
    static constexpr std::size_t kEnd = kNowhere - 1; // the block's results read at its end

    static std::size_t index(ValueId id) { return static_cast<std::size_t>(id.index); }
    const ir::Type& type(ValueId id) const { return program_.type(id); }

    void find_uses() {
        for (std::size_t at = 0; at < block_.ops.size(); ++at) {
            const Op& op = block_.ops[at];
            for (const ValueId id : op.inputs) {
                readers_[index(id)].push_back(at);
            }
            for (const ValueId id : op.structured() ? ir::captures(op) : ir::ValueIds()) {
                readers_[index(id)].push_back(at);
            }
            for (const ValueId id : op.outputs) {
                maker_[index(id)] = at;
            }
        }
        for (const ValueId id : block_.results) {
            readers_[index(id)].push_back(kEnd);
        }
    }

    bool goes_with(const Op& a, const Op& b) const { return kinds_(a) == kinds_(b); }
    const Op* op_at(std::size_t at) const {
        return at < block_.ops.size() && !gone_[at] ? &block_.ops[at] : nullptr;
    }

    void add_gelu(std::size_t at) {
        Op& op = block_.ops[at];
        const ValueId before = op.outputs[0];
        if (op.attributes.flag("wide")) {
            return;
        }
        for (const std::size_t reader : readers_[index(before)]) {
            const Op* gelu = op_at(reader);
            if (gelu != nullptr && gelu->kind == "gelu" && gelu->phase == op.phase &&
                goes_with(op, *gelu)) {
                Op fused = op;
                turn_into("linear_gelu", fused);
                fused.outputs = {gelu->outputs[0], before};
                if (!has_kernel_(program_, fused)) {
                    return;
                }
                op = std::move(fused);
                maker_[index(op.outputs[0])] = at;
                gone_[reader] = true;
                return;
            }
        }
    }

    bool add_gelu_grad(std::size_t at) {
        const Op& op = block_.ops[at];
        const auto& readers = readers_[index(op.outputs[0])];
        const Op* grad = readers.size() == 1 ? op_at(readers[0]) : nullptr;
        if (grad == nullptr || grad->kind != "gelu_grad" || grad->inputs[1] != op.outputs[0] ||
            type(grad->inputs[0]) != type(op.outputs[0]) || op.attributes.flag("wide") ||
            !goes_with(op, *grad)) {
            return false;
        }
        Op fused = *grad;
        fused.inputs = {op.inputs[0], op.inputs[1], grad->inputs[0]};
        fused.attributes = op.attributes;
        turn_into("matmul_gelu_grad", fused);
        if (!has_kernel_(program_, fused)) {
            return false;
        }
        block_.ops[readers[0]] = std::move(fused);
        gone_[at] = true;
        return true;
    }

    /// In the place of the product.
    bool add_to_sum(std::size_t at) {
        const Op& op = block_.ops[at];
        const ValueId product = op.outputs[0];
        const auto& readers = readers_[index(product)];
        const Op* sum = readers.size() == 1 ? op_at(readers[0]) : nullptr;
        if (sum == nullptr || sum->kind != "add" || sum->inputs[0] == sum->inputs[1] ||
            sum->phase != op.phase || !goes_with(op, *sum)) {
            return false;
        }
        const ValueId other = sum->inputs[sum->inputs[0] == product ? 1 : 0];
        const std::size_t made = maker_[index(other)];
        const bool before = made == kNowhere || made < at;
        if (!before || type(other) != type(product) || type(sum->outputs[0]) != type(product)) {
            return false;
        }
        Op fused = op;
        fused.inputs.push_back(other);
        turn_into("matmul_add", fused);
        fused.outputs = sum->outputs;
        if (!has_kernel_(program_, fused)) {
            return false;
        }
        block_.ops[at] = std::move(fused);
        maker_[index(block_.ops[at].outputs[0])] = at;
        gone_[readers[0]] = true;
        return true;
    }

    /// The value whose elements it shows in another shape.
    ValueId shown_by(ValueId id) const {
        while (maker_[index(id)] != kNowhere && block_.ops[maker_[index(id)]].kind == "reshape") {
            id = block_.ops[maker_[index(id)]].inputs[0];
        }
        return id;
    }

    bool sums_all_rows(const Op& op) const {
        if (op.kind != "reduce_sum") {
            return false;
        }
        const ir::Shape& from = type(op.inputs[0]).shape;
        const auto& dims = op.attributes.list("dims");
        return type(op.outputs[0]).dtype == DType::f32 && type(op.outputs[0]).shape.rank() == 1 &&
               static_cast<int>(dims.size()) == from.rank() - 1 &&
               std::find(dims.begin(), dims.end(), from.rank() - 1) == dims.end();
    }

    bool add_sums(std::size_t at) {
        const Op& op = block_.ops[at];
        if (!op.attributes.flag("transpose_x") || op.attributes.flag("transpose_y") ||
            type(op.inputs[0]).shape.rank() != 2 || type(op.inputs[1]).shape.rank() != 2 ||
            type(op.outputs[0]).dtype != DType::f32) {
            return false;
        }
        const ValueId rows = shown_by(op.inputs[1]);
        for (std::size_t other = 0; other < block_.ops.size(); ++other) {
            const Op* sum = op_at(other);
            if (sum != nullptr && sums_all_rows(*sum) && shown_by(sum->inputs[0]) == rows &&
                type(sum->outputs[0]).shape.back() == type(op.inputs[1]).shape.back() &&
                goes_with(op, *sum)) {
                return join_sums(at, other);
            }
        }
        return false;
    }

    /// In the place of the later of the two.
    bool join_sums(std::size_t at, std::size_t other) {
        const std::size_t place = std::max(at, other);
        const std::size_t first = std::min(at, other);
        for (const std::size_t reader : readers_[index(block_.ops[first].outputs[0])]) {
            if (reader < place) {
                return false;
            }
        }
        Op fused = block_.ops[at];
        turn_into("matmul_sums", fused);
        fused.outputs = {fused.outputs[0], block_.ops[other].outputs[0]};
        if (!has_kernel_(program_, fused)) {
            return false;
        }
        block_.ops[place] = std::move(fused);
        gone_[first] = true;
        return true;
    }

    ir::Program& program_;
    Block& block_;
    const OpGroups& kinds_;
    const HasKernel& has_kernel_;
    std::vector<std::vector<std::size_t>> readers_; // [value]
    std::vector<std::size_t> maker_;                // [value]
    std::vector<bool> gone_;                        // [op]
};

void fuse_in(ir::Program& program, Block& block, const OpGroups& kinds,
             const HasKernel& has_kernel) {
    for (Op& op : block.ops) {
        if (op.is_loop()) {
            fuse_in(program, op.body.front(), kinds, has_kernel);
        }
    }
    EpilogueFuser(program, block, kinds, has_kernel).run();
}

} // namespace

void fuse_epilogues(ir::Program& program, const OpGroups& kinds, const HasKernel& has_kernel) {
    fuse_in(program, program.body, kinds, has_kernel);
}

} // namespace weft::passes
