// SPDX-License-Identifier: Apache-2.0
#include "core/passes/precision_modes.h"

#include "kernels/weft_kernels.h"

#include <algorithm>

namespace weft::passes {
namespace {

using ir::Block;
using ir::Op;
using ir::ValueId;

/// A place that reads a value: operand of an op, or result of a loop's body (op = the loop).
struct Use {
    const Op* op;
    std::size_t index;
    bool yields;
};

class Decider {
public:
    explicit Decider(const ir::Program& program) : program_(program), uses_(program.values.size()) {
        modes_.values.assign(program.values.size(), Mode::neutral);
        modes_.wide.assign(program.values.size(), false);
        modes_.feeds_mix.assign(program.values.size(), false);
    }

    PrecisionModes run() {
        collect_uses(program_.body, nullptr);
        mark_feeding(program_.body);
        // Twice: a gradient may be added to one that is wide and comes later, as those of a tied
        // weight are.
        decide(program_.body);
        decide(program_.body);
        return std::move(modes_);
    }

private:
    Mode& mode(ValueId id) { return modes_.values[static_cast<std::size_t>(id.index)]; }
    bool feeds(ValueId id) const { return modes_.feeds_mix[static_cast<std::size_t>(id.index)]; }
    static std::size_t carried_of(const Op& op) {
        return static_cast<std::size_t>(op.attributes.integer("carried"));
    }

    void collect_uses(const Block& block, const Op* loop) {
        for (const Op& op : block.ops) {
            for (std::size_t i = 0; i < op.inputs.size(); ++i) {
                uses(op.inputs[i]).push_back({&op, i, false});
            }
            if (op.is_loop()) {
                collect_uses(op.body.front(), &op);
            }
        }
        for (std::size_t i = 0; loop != nullptr && i < block.results.size(); ++i) {
            uses(block.results[i]).push_back({loop, i, true});
        }
    }

    std::vector<Use>& uses(ValueId id) { return uses_[static_cast<std::size_t>(id.index)]; }

    /// Marks; returns whether that is new.
    bool feed(ValueId id, bool flag) {
        if (!flag || feeds(id)) {
            return false;
        }
        modes_.feeds_mix[static_cast<std::size_t>(id.index)] = true;
        return true;
    }

    bool mark_feeding(const Block& block) {
        bool grew = false;
        for (auto op = block.ops.rbegin(); op != block.ops.rend(); ++op) {
            if (op->is_loop()) {
                grew = mark_loop(*op) || grew;
                continue;
            }
            const bool reaches = op->phase == ir::Phase::forward &&
                                 (is_mixing(program_, *op) || takes_as_is(*op) ||
                                  std::any_of(op->outputs.begin(), op->outputs.end(),
                                              [this](ValueId id) { return feeds(id); }));
            for (const ValueId input : op->inputs) {
                grew = feed(input, reaches) || grew;
            }
        }
        return grew;
    }

    /// Losses and argmax read any float type and keep their own arithmetic in f32.
    bool takes_as_is(const Op& op) const {
        return !ops::op_def(op.kind).full_outputs.empty() ||
               std::none_of(op.outputs.begin(), op.outputs.end(),
                            [this](ValueId id) { return is_float(id); });
    }

    bool mark_loop(const Op& op) {
        const Block& body = op.body.front();
        bool grew_at_all = false;
        bool grew = true;
        while (grew) {
            grew = false;
            for (std::size_t i = 0; i < body.results.size(); ++i) {
                const bool carried = i < carried_of(op) && feeds(body.arguments[i]);
                grew = feed(body.results[i], carried || feeds(op.outputs[i])) || grew;
            }
            grew = mark_feeding(body) || grew;
            grew_at_all = grew_at_all || grew;
        }
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            const bool handed_on = i < carried_of(op) && feeds(op.outputs[i]);
            grew_at_all = feed(op.inputs[i], handed_on || feeds(body.arguments[i])) || grew_at_all;
        }
        return grew_at_all;
    }

    void decide(const Block& block) {
        for (const Op& op : block.ops) {
            if (op.is_loop()) {
                decide_loop(op);
            } else {
                decide_op(op);
            }
        }
    }

    void decide_loop(const Op& op) {
        const Block& body = op.body.front();
        const std::size_t carried = carried_of(op);
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            const Mode outer = mode(op.inputs[i]);
            // Accumulators start from a constant or from f32 and stay wide.
            const bool wide = i < carried && outer == Mode::neutral && is_float(body.arguments[i]);
            mode(body.arguments[i]) = wide ? Mode::full : outer;
        }
        decide(body);
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            mode(op.outputs[i]) = i < carried ? mode(body.arguments[i]) : mode(body.results[i]);
        }
    }

    void decide_op(const Op& op) {
        const ops::OpDef& def = ops::op_def(op.kind);
        if (is_full(modes_, program_, op)) {
            set_all(op, Mode::full);
        } else if (is_mixing(program_, op)) {
            set_all(op, Mode::low);
        } else {
            set_all(op, joined(op, def.elementwise == WEFT_EW_SELECT ? 1 : 0));
        }
        for (const int i : def.wide_outputs) {
            const ValueId out = op.outputs[static_cast<std::size_t>(i)];
            if (mode(out) == Mode::low && read_in_full(out)) {
                mode(out) = Mode::full;
                modes_.wide[static_cast<std::size_t>(out.index)] = true;
            }
        }
        for (const int i : def.full_outputs) {
            mode(op.outputs[static_cast<std::size_t>(i)]) = Mode::full;
        }
    }

    void set_all(const Op& op, Mode value) {
        for (const ValueId id : op.outputs) {
            mode(id) = is_float(id) ? value : Mode::neutral;
        }
    }

    bool is_float(ValueId id) const { return ir::is_float(program_.type(id).dtype); }

    /// Full beats low beats neutral.
    Mode joined(const Op& op, std::size_t first) {
        Mode out = Mode::neutral;
        for (std::size_t i = first; i < op.inputs.size(); ++i) {
            out = std::max(out, mode(op.inputs[i]));
        }
        return out;
    }

    /// Every reader computes in f32 anyway, so that an f32 value costs no further cast.
    bool read_in_full(ValueId id) {
        const auto& list = uses(id);
        return std::all_of(list.begin(), list.end(),
                           [this, id](const Use& use) { return reads_in_full(use, id); });
    }

    bool reads_in_full(const Use& use, ValueId id) {
        const Op& op = *use.op;
        if (use.yields) {
            const bool carried = use.index < carried_of(op);
            return carried ? mode(op.body.front().arguments[use.index]) == Mode::full
                           : read_in_full(op.outputs[use.index]);
        }
        if (op.is_loop()) {
            return use.index >= carried_of(op) &&
                   read_in_full(op.body.front().arguments[use.index]);
        }
        if (is_full(modes_, program_, op)) {
            return true;
        }
        if (ops::op_def(op.kind).elementwise >= 0 && op.inputs.size() > 1) {
            return std::any_of(op.inputs.begin(), op.inputs.end(), [this, id](ValueId other) {
                return other != id && mode(other) == Mode::full;
            });
        }
        return !is_mixing(program_, op) &&
               std::all_of(op.outputs.begin(), op.outputs.end(),
                           [this](ValueId out) { return read_in_full(out); });
    }

    const ir::Program& program_;
    std::vector<std::vector<Use>> uses_;
    PrecisionModes modes_;
};

} // namespace

PrecisionModes decide_precision(const ir::Program& program) {
    return Decider(program).run();
}

bool is_mixing(const ir::Program& program, const Op& op) {
    const ops::OpDef* def = ops::find_op(op.kind);
    if (def == nullptr || def->elementwise >= 0 || op.structured() ||
        def->precision == ops::Precision::full) {
        return false;
    }
    return std::count_if(op.inputs.begin(), op.inputs.end(), [&program](ValueId id) {
               return ir::is_float(program.type(id).dtype);
           }) > 1;
}

bool is_full(const PrecisionModes& modes, const ir::Program& program, const Op& op) {
    const auto is_float_value = [&program](ValueId id) {
        return ir::is_float(program.type(id).dtype);
    };
    if (op.phase == ir::Phase::update || op.kind == "fused" ||
        ops::op_def(op.kind).precision == ops::Precision::full) {
        return true;
    }
    // Behind the last op that mixes or takes its input as it is.
    const ops::OpDef& def = ops::op_def(op.kind);
    const bool tail = def.elementwise >= 0 || (op.inputs.size() == 1 && def.full_outputs.empty());
    return tail && op.phase == ir::Phase::forward &&
           std::any_of(op.inputs.begin(), op.inputs.end(), is_float_value) &&
           std::all_of(op.outputs.begin(), op.outputs.end(), [&](ValueId id) {
               return is_float_value(id) && !modes.feeds_mix[static_cast<std::size_t>(id.index)];
           });
}

} // namespace weft::passes
