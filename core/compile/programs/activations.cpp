// SPDX-License-Identifier: Apache-2.0
#include "core/compile/programs/activations.h"

#include "core/passes/precision_modes.h"

#include <algorithm>
#include <map>

namespace weft::compile {
namespace {

using ir::Op;
using ir::ValueId;
using ir::ValueIds;
using plan::Activation;

class Collector {
public:
    Collector(const ir::Program& whole, std::span<const sharding::PlacedValue> values,
              const sharding::Mesh& mesh, ir::DType compute_dtype)
        : whole_(whole), values_(values), mesh_(mesh), compute_(compute_dtype),
          slot_(whole.values.size(), nullptr), backward_(whole.values.size(), false) {
        if (compute_ != ir::DType::f32) {
            modes_ = passes::decide_precision(whole);
        }
    }

    std::vector<Activation> run() {
        for (const ir::Port& port : whole_.arguments) {
            slot_[at(port.value)] = port.role == ir::Role::state ? &port.name : nullptr;
        }
        visit(whole_.body);
        std::vector<Activation> out;
        for (const Maker& maker : makers_) {
            const Layer& layer = layers_.at(maker.op->path);
            const bool last = layer.last == maker.op;
            if (!last && (maker.parameters.empty() ||
                          placement(maker.op->outputs[0]) == placement(layer.last->outputs[0]))) {
                continue;
            }
            Activation one = activation(maker);
            one.name = one.path.empty() ? one.op + " output"
                       : last           ? one.path + " output"
                                        : one.path + " " + one.op;
            if (last) {
                one.parameters = layer.parameters;
            }
            out.push_back(std::move(one));
        }
        return out;
    }

private:
    struct Maker {
        const Op* op = nullptr;
        std::vector<std::string> parameters;
    };
    struct Layer {
        const Op* last = nullptr;
        std::vector<std::string> parameters; // of the ops whose results lie like that of the last
    };

    static std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

    sharding::Sharding placement(ValueId id) const {
        return values_.empty() ? sharding::Sharding::replicated(whole_.type(id).shape.rank())
                               : values_[at(id)].placement;
    }

    void visit(const ir::Block& block) {
        for (const Op& op : block.ops) {
            if (op.is_loop()) {
                visit_loop(op);
                continue;
            }
            for (const ValueId id : op.inputs) {
                backward_[at(id)] = backward_[at(id)] || op.phase == ir::Phase::backward;
            }
            pass_slot(op);
            if (op.phase == ir::Phase::forward && counts(op)) {
                note(op);
            }
        }
    }

    /// Slices and carried values are slots where the loop's operands are.
    void visit_loop(const Op& loop) {
        const ir::Block& body = loop.body.front();
        for (std::size_t i = 0; i < loop.inputs.size(); ++i) {
            slot_[at(body.arguments[i])] = slot_[at(loop.inputs[i])];
            backward_[at(loop.inputs[i])] =
                backward_[at(loop.inputs[i])] || loop.phase == ir::Phase::backward;
        }
        visit(body);
        loops_.push_back(&loop);
    }

    /// What is read behind its loop is read.
    bool for_backward(ValueId id) const {
        if (backward_[at(id)]) {
            return true;
        }
        return std::any_of(loops_.begin(), loops_.end(), [&](const Op* loop) {
            const ValueIds& results = loop->body.front().results;
            const auto found = std::find(results.begin(), results.end(), id);
            return found != results.end() &&
                   backward_[at(loop->outputs[static_cast<std::size_t>(found - results.begin())])];
        });
    }

    void pass_slot(const Op& op) {
        if (op.inputs.size() == 1 && op.outputs.size() == 1 &&
            whole_.type(op.inputs[0]).shape.elements() ==
                whole_.type(op.outputs[0]).shape.elements()) {
            slot_[at(op.outputs[0])] = slot_[at(op.inputs[0])];
        }
    }

    bool counts(const Op& op) const {
        const ir::Type& type = whole_.type(op.outputs[0]);
        return ir::is_float(type.dtype) && type.shape.elements() > 1 &&
               slot_[at(op.outputs[0])] == nullptr;
    }

    void note(const Op& op) {
        Maker maker{&op, {}};
        for (const ValueId id : op.inputs) {
            if (const std::string* slot = slot_[at(id)]; slot != nullptr) {
                maker.parameters.push_back(*slot);
            }
        }
        if (op.path.empty() && maker.parameters.empty()) {
            return; // of no layer
        }
        Layer& layer = layers_[op.path];
        if (layer.last != nullptr &&
            placement(layer.last->outputs[0]) != placement(op.outputs[0])) {
            layer.parameters.clear();
        }
        layer.last = &op;
        layer.parameters.insert(layer.parameters.end(), maker.parameters.begin(),
                                maker.parameters.end());
        makers_.push_back(std::move(maker));
    }

    Activation activation(const Maker& maker) const {
        const ValueId id = maker.op->outputs[0];
        Activation out;
        out.path = maker.op->path;
        out.op = maker.op->kind;
        out.parameters = maker.parameters;
        out.whole = whole_.type(id);
        if (modes_ && modes_->of(id) == passes::Mode::low) {
            out.whole.dtype = compute_;
        }
        out.placement = placement(id);
        out.type = sharding::local_type(out.whole, out.placement, mesh_);
        out.for_backward = for_backward(id);
        return out;
    }

    const ir::Program& whole_;
    std::span<const sharding::PlacedValue> values_;
    const sharding::Mesh& mesh_;
    const ir::DType compute_;
    std::optional<passes::PrecisionModes> modes_;
    std::vector<const std::string*> slot_; // [value] whose elements these are; null: of none
    std::vector<bool> backward_;           // [value] read by an op of the backward phase
    std::vector<const Op*> loops_;
    std::vector<Maker> makers_;
    std::map<std::string, Layer, std::less<>> layers_; // by path
};

} // namespace

std::vector<Activation> activations_of(const ir::Program& whole,
                                       std::span<const sharding::PlacedValue> values,
                                       const sharding::Mesh& mesh, ir::DType compute_dtype) {
    return Collector(whole, values, mesh, compute_dtype).run();
}

} // namespace weft::compile
