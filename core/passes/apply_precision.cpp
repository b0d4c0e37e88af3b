// SPDX-License-Identifier: Apache-2.0
#include "core/passes/apply_precision.h"

#include "core/passes/precision_modes.h"
#include "core/passes/rewrite.h"
#include "kernels/weft_kernels.h"

#include <map>

namespace weft::passes {
namespace {

using ir::Block;
using ir::DType;
using ir::Op;
using ir::ValueId;
using ir::ValueIds;

class Lowerer {
public:
    Lowerer(ir::Program& program, DType compute)
        : program_(program), compute_(compute), modes_(decide_precision(program)) {
        for (const ir::Value& value : program.values) {
            declared_.push_back(value.type.dtype);
        }
    }

    void run() { visit(program_.body, nullptr); }

private:
    const ir::Type& type(ValueId id) const { return program_.type(id); }
    DType declared(ValueId id) const { return declared_[static_cast<std::size_t>(id.index)]; }

    /// The value in another float type; the cast is made once, in the block of the definition.
    ValueId as(ValueId id, DType dtype, const Op& reader) {
        if (type(id).dtype == dtype || !convertible(type(id).dtype)) {
            return id;
        }
        const auto key = std::pair(id, dtype);
        if (const auto found = casts_.find(key); found != casts_.end()) {
            return found->second;
        }
        Op cast;
        cast.kind = "cast";
        cast.inputs = {id};
        cast.attributes = {{"dtype", std::string(ir::dtype_name(dtype))}};
        cast.path = reader.path;
        cast.phase = reader.phase;
        const ir::Type result{dtype, type(id).shape};
        cast.outputs = {program_.add_value(result)};
        const ValueId out = cast.outputs[0];
        frames_[frame_of_[id]]->push_back(std::move(cast));
        casts_.emplace(key, out);
        return out;
    }

    bool convertible(DType dtype) const { return dtype == DType::f32 || dtype == compute_; }

    void define(const ValueIds& ids) {
        for (const ValueId id : ids) {
            frame_of_[id] = frames_.size() - 1;
        }
    }

    void visit(Block& block, const Op* loop) {
        std::vector<Op> ops;
        frames_.push_back(&ops);
        define(block.arguments);
        for (Op& op : block.ops) {
            if (op.is_loop()) {
                loop_types(op);
            } else {
                lower(op);
            }
            define(op.outputs);
            ops.push_back(std::move(op));
        }
        if (loop == nullptr) {
            port_results(block);
        } else {
            const auto carried = static_cast<std::size_t>(loop->attributes.integer("carried"));
            for (std::size_t i = 0; i < carried; ++i) {
                block.results[i] = as(block.results[i], type(block.arguments[i]).dtype, *loop);
            }
        }
        frames_.pop_back();
        block.ops = std::move(ops);
    }

    void port_results(Block& block) {
        Op reader;
        reader.phase = ir::Phase::update;
        for (std::size_t i = 0; i < block.results.size(); ++i) {
            reader.path = program_.results[i].name;
            block.results[i] = as(block.results[i], declared(block.results[i]), reader);
            program_.results[i].value = block.results[i];
        }
    }

    void loop_types(Op& op) {
        Block& body = op.body.front();
        const auto carried = static_cast<std::size_t>(op.attributes.integer("carried"));
        const std::int64_t count = op.attributes.integer("count");
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            const ValueId argument = body.arguments[i];
            if (i < carried) {
                const bool low = modes_.of(argument) == Mode::low;
                op.inputs[i] = as(op.inputs[i], low ? compute_ : declared(argument), op);
            }
            program_.value(argument).type.dtype = type(op.inputs[i]).dtype;
        }
        visit(body, &op);
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            const ir::Type& result = type(body.results[i]);
            program_.value(op.outputs[i]).type =
                i < carried ? result : ir::Type{result.dtype, with_leading(count, result.shape)};
        }
    }

    void lower(Op& op) {
        const ops::OpDef& def = ops::op_def(op.kind);
        if (is_full(modes_, program_, op)) {
            inputs_as(op, DType::f32, 0);
        } else if (def.elementwise >= 0) {
            lower_elementwise(op, def);
        } else if (is_mixing(program_, op)) {
            inputs_as(op, compute_, 0, def.full_inputs);
        }
        for (const int i : def.wide_outputs) {
            const ValueId out = op.outputs[static_cast<std::size_t>(i)];
            if (modes_.wide[static_cast<std::size_t>(out.index)]) {
                op.attributes.set("wide", true);
            }
        }
        infer(op, def);
    }

    void lower_elementwise(Op& op, const ops::OpDef& def) {
        // The condition of a select takes no part in the arithmetic.
        const std::size_t first = def.elementwise == WEFT_EW_SELECT ? 1 : 0;
        const Mode mode = modes_.of(op.outputs[0]);
        if (mode != Mode::neutral) {
            inputs_as(op, mode == Mode::full ? DType::f32 : compute_, first);
        }
    }

    void inputs_as(Op& op, DType dtype, std::size_t first, const std::vector<int>& full = {}) {
        for (std::size_t i = first; i < op.inputs.size(); ++i) {
            const bool stays =
                std::find(full.begin(), full.end(), static_cast<int>(i)) != full.end();
            op.inputs[i] = as(op.inputs[i], stays ? DType::f32 : dtype, op);
        }
    }

    void infer(const Op& op, const ops::OpDef& def) {
        const ops::Inferred inferred = def.infer({program_, op});
        WEFT_CHECK(inferred.error.empty(),
                   op.kind + " at " + op.path +
                       " does not run in the compute type: " + inferred.error);
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            program_.value(op.outputs[i]).type = inferred.outputs[i];
        }
    }

    ir::Program& program_;
    DType compute_;
    PrecisionModes modes_;
    std::vector<DType> declared_;
    std::vector<std::vector<Op>*>
        frames_; // ops of the blocks around the current op, outermost first
    std::map<ValueId, std::size_t> frame_of_;
    std::map<std::pair<ValueId, DType>, ValueId> casts_;
};

} // namespace

void apply_precision(ir::Program& program, DType compute) {
    if (compute != DType::f32) {
        Lowerer(program, compute).run();
    }
}

} // namespace weft::passes
