// SPDX-License-Identifier: Apache-2.0
#include "core/passes/narrow_exchanges.h"

#include "core/ops/op_def.h"
#include "kernels/weft_kernels.h"

#include <optional>

namespace weft::passes {
namespace {

using ir::DType;
using ir::Op;
using ir::ValueId;
using ir::ValueIds;

class Narrower {
public:
    explicit Narrower(ir::Program& program) : program_(program), readers_(program.values.size()) {
        collect(program.body);
        for (const ValueId id : program.body.results) {
            kept_.push_back(id);
        }
    }

    void run() { visit(program_.body); }

private:
    void collect(ir::Block& block) {
        for (Op& op : block.ops) {
            for (const ValueId id : op.inputs) {
                readers_[static_cast<std::size_t>(id.index)].push_back(&op);
            }
            for (ir::Block& body : op.body) {
                collect(body);
                kept_.insert(kept_.end(), body.results.begin(), body.results.end());
            }
        }
    }

    const ir::Type& type(ValueId id) const { return program_.type(id); }

    /// Whether the op only moves elements of its one float operand.
    bool moves(const Op& op) const {
        return !op.structured() && op.outputs.size() == 1 &&
               type(op.outputs[0]).dtype == type(op.inputs[0]).dtype &&
               ops::op_def(op.kind).elementwise < 0 && !ops::op_def(op.kind).collective &&
               ops::cost_of({program_, op}).flops == 0;
    }

    /// The type to which every reader casts the value, perhaps after moving it; none otherwise.
    std::optional<DType> wanted(ValueId id) const {
        std::optional<DType> out;
        if (std::find(kept_.begin(), kept_.end(), id) != kept_.end()) {
            return std::nullopt;
        }
        for (const Op* reader : readers_[static_cast<std::size_t>(id.index)]) {
            const bool casts = ops::op_def(reader->kind).elementwise == WEFT_EW_CAST;
            const std::optional<DType> one = casts ? type(reader->outputs[0]).dtype
                                             : moves(*reader) && reader->inputs[0] == id
                                                 ? wanted(reader->outputs[0])
                                                 : std::nullopt;
            if (!one || (out && *out != *one)) {
                return std::nullopt;
            }
            out = one;
        }
        return out;
    }

    void retype(ValueId id, DType dtype) {
        program_.value(id).type.dtype = dtype;
        for (const Op* reader : readers_[static_cast<std::size_t>(id.index)]) {
            if (ops::op_def(reader->kind).elementwise != WEFT_EW_CAST) {
                retype(reader->outputs[0], dtype);
            }
        }
    }

    void visit(ir::Block& block) {
        std::vector<Op> casts;
        std::vector<std::size_t> places; // of the ops that they go in front of
        for (std::size_t i = 0; i < block.ops.size(); ++i) {
            Op& op = block.ops[i];
            for (ir::Block& body : op.body) {
                visit(body);
            }
            const ops::OpDef& def = ops::op_def(op.kind);
            if (!def.collective || op.attributes.has("reduce") || op.inputs.size() != 1) {
                continue;
            }
            const auto dtype = wanted(op.outputs[0]);
            const ir::Type& own = type(op.inputs[0]);
            if (!dtype || ir::dtype_bytes(*dtype) >= ir::dtype_bytes(own.dtype)) {
                continue;
            }
            Op cast;
            cast.kind = "cast";
            cast.inputs = op.inputs;
            cast.attributes = {{"dtype", std::string(ir::dtype_name(*dtype))}};
            cast.path = op.path;
            cast.phase = op.phase;
            cast.outputs = {program_.add_value({*dtype, ir::Shape(own.shape)})};
            readers_.emplace_back();
            op.inputs = cast.outputs;
            retype(op.outputs[0], *dtype);
            casts.push_back(std::move(cast));
            places.push_back(i);
        }
        insert(block, std::move(casts), places);
    }

    /// One walk over the block, however many there are.
    static void insert(ir::Block& block, std::vector<Op> casts,
                       const std::vector<std::size_t>& places) {
        if (casts.empty()) {
            return;
        }
        std::vector<Op> ops;
        ops.reserve(block.ops.size() + casts.size());
        std::size_t next = 0;
        for (std::size_t i = 0; i < block.ops.size(); ++i) {
            if (next < places.size() && places[next] == i) {
                ops.push_back(std::move(casts[next++]));
            }
            ops.push_back(std::move(block.ops[i]));
        }
        block.ops = std::move(ops);
    }

    ir::Program& program_;
    std::vector<std::vector<const Op*>> readers_; // [value]
    ValueIds kept_;                               // results of blocks
};

} // namespace

void narrow_exchanges(ir::Program& program) {
    Narrower(program).run();
}

} // namespace weft::passes
