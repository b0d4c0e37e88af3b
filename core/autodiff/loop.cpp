// SPDX-License-Identifier: Apache-2.0
// Differentiation of `repeat`. The backward loop visits the iterations in the opposite order. It
// carries the gradients of the carried values and one accumulator per captured variable; it
// receives the gradients of the per-iteration outputs and the residuals: values of the forward body
// that the backward body reads, stacked by the forward loop.
#include "core/autodiff/differentiate.h"

#include <algorithm>
#include <set>

namespace weft::autodiff {
namespace {

using ir::Op;
using ir::ValueId;
using ir::ValueIds;

void collect_uses(const ir::Block& block, ValueIds& uses) {
    for (const Op& op : block.ops) {
        uses.insert(uses.end(), op.inputs.begin(), op.inputs.end());
        for (const ir::Block& body : op.body) {
            collect_uses(body, uses);
        }
    }
    uses.insert(uses.end(), block.results.begin(), block.results.end());
}

class LoopGradient {
public:
    LoopGradient(Op& forward, ops::Builder& target, const Activity& activity)
        : forward_(forward), target_(target), program_(target.program()), activity_(activity),
          carried_(static_cast<std::size_t>(forward.attributes.integer("carried"))),
          body_builder_(program_, body_) {
        body_builder_.set_phase(target.phase());
    }

    /// Appends the backward loop; its results go into `gradients`.
    void append(GradientMap& gradients) {
        // Captures are taken now: residual outputs do not change them, the backward body is
        // separate.
        captures_ = ir::captures(forward_);
        seed_carried(gradients);
        seed_outputs(gradients);
        differentiate(forward_.body[0], body_builder_, activity_, inner_);
        finish_carried();
        finish_captures();
        finish_slices();
        if (carried_results_.empty() && slice_results_.empty()) {
            return; // the way leads through a derivative that is zero everywhere
        }
        add_residuals();
        emit(gradients);
    }

private:
    ir::Block& forward_body() { return forward_.body[0]; }

    // Carried operands come first in arguments and results, so the two kinds are kept apart.
    ValueId carry(ValueId initial) {
        initial_.push_back(initial);
        carried_arguments_.push_back(program_.add_value(program_.type(initial)));
        return carried_arguments_.back();
    }

    ValueId receive(ValueId stacked) {
        const ir::Type& type = program_.type(stacked);
        const ir::Type slice{type.dtype, ir::Shape(type.shape.span().subspan(1))};
        stacked_.push_back(stacked);
        slice_arguments_.push_back(program_.add_value(slice));
        return slice_arguments_.back();
    }

    void seed_carried(const GradientMap& gradients) {
        for (std::size_t i = 0; i < carried_; ++i) {
            if (!activity_.active(forward_body().arguments[i])) {
                continue;
            }
            differentiated_.push_back(i);
            const ValueId argument = carry(gradients.get(target_, forward_.outputs[i]));
            inner_.add(body_builder_, forward_body().results[i], argument);
        }
    }

    void seed_outputs(const GradientMap& gradients) {
        for (std::size_t i = carried_; i < forward_.outputs.size(); ++i) {
            const ValueId upstream = gradients.find(forward_.outputs[i]);
            if (upstream.valid()) {
                inner_.add(body_builder_, forward_body().results[i], receive(upstream));
            }
        }
    }

    // What an iteration hands back: the gradient of the carried values at its start.
    void finish_carried() {
        for (const std::size_t i : differentiated_) {
            carried_results_.push_back(inner_.get(body_builder_, forward_body().arguments[i]));
        }
    }

    // A captured variable is used in every iteration: its gradient is the sum over them.
    void finish_captures() {
        for (const ValueId capture : captures_) {
            const ValueId gradient = inner_.find(capture);
            if (!gradient.valid() || !activity_.active(capture)) {
                continue;
            }
            const ir::Type type = program_.type(capture);
            const ValueId sum = carry(ops::constant(target_, 0.0, type.shape, type.dtype));
            carried_results_.push_back(ops::add(body_builder_, sum, gradient));
            accumulated_.push_back(capture);
        }
    }

    void finish_slices() {
        for (std::size_t i = carried_; i < forward_.inputs.size(); ++i) {
            const ValueId argument = forward_body().arguments[i];
            if (activity_.active(argument) && activity_.active(forward_.inputs[i])) {
                slice_results_.push_back(inner_.get(body_builder_, argument));
                sliced_.push_back(i);
            }
        }
    }

    // Replaces each forward-body value that the backward body reads by an argument of the latter.
    void add_residuals() {
        std::map<ValueId, const Op*> producers;
        for (const Op& op : forward_body().ops) {
            for (const ValueId output : op.outputs) {
                producers.emplace(output, &op);
            }
        }
        body_.results = carried_results_;
        body_.results.insert(body_.results.end(), slice_results_.begin(), slice_results_.end());
        ValueIds uses;
        collect_uses(body_, uses);
        ValueIds replacement(program_.values.size());
        std::vector<Op> clones;
        std::set<ValueId> seen;
        for (const ValueId use : uses) {
            if (!seen.insert(use).second) {
                continue;
            }
            const auto producer = producers.find(use);
            const auto& arguments = forward_body().arguments;
            const auto argument = std::find(arguments.begin(), arguments.end(), use);
            if (producer != producers.end() && producer->second->kind == "constant") {
                clones.push_back(*producer->second);
                clones.back().phase = ir::Phase::backward;
                clones.back().outputs = {program_.add_value(program_.type(use))};
                replacement[static_cast<std::size_t>(use.index)] = clones.back().outputs[0];
            } else if (producer != producers.end() || argument != arguments.end()) {
                const auto at = static_cast<std::size_t>(argument - arguments.begin());
                const bool sliced = argument != arguments.end() && at >= carried_;
                const ValueId stacked = sliced ? forward_.inputs[at] : stack(use);
                replacement[static_cast<std::size_t>(use.index)] = receive(stacked);
            }
        }
        ir::replace_uses(body_, replacement);
        body_.ops.insert(body_.ops.begin(), clones.begin(), clones.end());
    }

    // Makes the forward loop hand out one more value per iteration, unless it does already.
    ValueId stack(ValueId inner) {
        auto& results = forward_body().results;
        for (std::size_t i = carried_; i < results.size(); ++i) {
            if (results[i] == inner) {
                return forward_.outputs[i];
            }
        }
        const ir::Type type = program_.type(inner);
        ir::Type stacked{type.dtype, {forward_.attributes.integer("count")}};
        for (const std::int64_t extent : type.shape) {
            stacked.shape.push_back(extent);
        }
        results.push_back(inner);
        forward_.outputs.push_back(program_.add_value(stacked));
        return forward_.outputs.back();
    }

    void emit(GradientMap& gradients) {
        Op op;
        op.kind = "repeat";
        op.path = forward_.path;
        op.phase = target_.phase();
        op.attributes = forward_.attributes;
        op.attributes.set("carried", static_cast<std::int64_t>(initial_.size()));
        op.attributes.set("reverse", !forward_.attributes.flag("reverse"));
        op.inputs = initial_;
        op.inputs.insert(op.inputs.end(), stacked_.begin(), stacked_.end());
        body_.arguments = carried_arguments_;
        body_.arguments.insert(body_.arguments.end(), slice_arguments_.begin(),
                               slice_arguments_.end());
        ValueIds into; // the forward value whose gradient each output is
        for (const std::size_t i : differentiated_) {
            into.push_back(forward_.inputs[i]);
        }
        into.insert(into.end(), accumulated_.begin(), accumulated_.end());
        for (const std::size_t i : sliced_) {
            into.push_back(forward_.inputs[i]);
        }
        for (const ValueId value : into) {
            op.outputs.push_back(program_.add_value(program_.type(value)));
        }
        op.body.push_back(std::move(body_));
        const ValueIds outputs = op.outputs;
        target_.append(std::move(op));
        for (std::size_t i = 0; i < into.size(); ++i) {
            if (activity_.active(into[i])) {
                gradients.add(target_, into[i], outputs[i]);
            }
        }
    }

    Op& forward_;
    ops::Builder& target_;
    ir::Program& program_;
    const Activity& activity_;
    std::size_t carried_;
    ir::Block body_;
    ops::Builder body_builder_;
    GradientMap inner_; // gradients of values of the forward body and of its captures

    ValueIds captures_;
    std::vector<std::size_t> differentiated_; // carried inputs whose gradient is carried
    ValueIds accumulated_;                    // captures whose gradient is accumulated
    std::vector<std::size_t> sliced_;         // per-iteration inputs whose gradient is handed out

    ValueIds initial_, carried_arguments_, carried_results_;
    ValueIds stacked_, slice_arguments_, slice_results_;
};

} // namespace

void differentiate_repeat(ir::Block& forward, std::size_t index, ops::Builder& target,
                          const Activity& activity, GradientMap& gradients) {
    // The loop is taken out while ops are appended, which may move the block's ops.
    Op loop = std::move(forward.ops[index]);
    LoopGradient(loop, target, activity).append(gradients);
    forward.ops[index] = std::move(loop);
}

} // namespace weft::autodiff
