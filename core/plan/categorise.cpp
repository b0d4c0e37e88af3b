// SPDX-License-Identifier: Apache-2.0
#include "core/plan/categorise.h"

#include "core/ir/op_tensors.h"
#include "core/ops/op_def.h"
#include "kernels/weft_kernels.h"

#include <algorithm>

namespace weft::plan {
namespace {

using ir::Block;
using ir::Op;
using ir::ValueId;

struct Traits {
    bool backward = false; // written in the backward phase
    bool update = false;   // written in the update phase
    bool read_in_update = false;
    bool compute_copy = false;
};

class Categoriser {
public:
    Categoriser(const ir::Program& program, const memory::Storage& storage, const SlotIndex& slots)
        : program_(program), storage_(storage), slots_(slots), traits_(storage.stretches.size()),
          categories_(storage.stretches.size(), Category::activations) {}

    std::vector<Category> run() {
        ir::walk(program_.body, [this](const Op& op) { observe(op); });
        for (std::size_t i = 0; i < categories_.size(); ++i) {
            categories_[i] = first_guess(i);
        }
        ir::walk(program_.body, [this](const Op& op) { spread_gradients(op); });
        return std::move(categories_);
    }

private:
    std::size_t stretch(ValueId id) const {
        return static_cast<std::size_t>(storage_.stretch_of[static_cast<std::size_t>(id.index)]);
    }

    void observe(const Op& op) {
        if (op.is_loop()) {
            return; // its operands are those of the body's ops
        }
        for (const ValueId id : op.inputs) {
            traits_[stretch(id)].read_in_update |= op.phase == ir::Phase::update;
        }
        const ops::OpDef* def = ops::find_op(op.kind);
        if (def != nullptr && def->view) {
            return;
        }
        for (std::size_t output = 0; output < op.outputs.size(); ++output) {
            Traits& traits = traits_[stretch(op.outputs[output])];
            traits.backward |= op.phase == ir::Phase::backward;
            traits.update |= op.phase == ir::Phase::update;
            traits.compute_copy |=
                casts(op) && is_parameter(op.inputs[ir::inputs_beside(op, output).front()]);
        }
    }

    static bool casts(const Op& op) {
        const bool one_op = op.structured() && op.body.front().ops.size() == 1;
        const ops::OpDef* def = ops::find_op(one_op ? op.body.front().ops[0].kind : op.kind);
        return def != nullptr && def->elementwise == WEFT_EW_CAST;
    }

    bool is_parameter(ValueId id) const {
        const auto found = slots_.find(storage_.of(id).slot);
        return found != slots_.end() && found->second->category == Category::parameters;
    }

    Category first_guess(std::size_t i) const {
        const memory::Stretch& own = storage_.stretches[i];
        if (const auto found = slots_.find(own.slot); found != slots_.end()) {
            return found->second->category;
        }
        const Traits& traits = traits_[i];
        if (own.argument) {
            return Category::batch;
        }
        if (traits.compute_copy) {
            return Category::packed_weights;
        }
        if (traits.backward && traits.read_in_update) {
            return Category::gradients;
        }
        return traits.update ? Category::optimizer : Category::activations;
    }

    /// A gradient of one microstep, and a scaled or clipped gradient, are gradients too.
    void spread_gradients(const Op& op) {
        for (std::size_t output = 0; output < op.outputs.size(); ++output) {
            const ValueId out = op.outputs[output];
            for (const std::size_t input : ir::inputs_beside(op, output)) {
                const ValueId in = op.inputs[input];
                if (op.is_loop() || program_.type(in).shape != program_.type(out).shape) {
                    continue;
                }
                const std::size_t to = stretch(out);
                const std::size_t from = stretch(in);
                if (categories_[to] == Category::gradients && traits_[from].backward &&
                    categories_[from] == Category::activations && op.phase == ir::Phase::backward) {
                    categories_[from] = Category::gradients;
                }
                if (categories_[from] == Category::gradients &&
                    categories_[to] == Category::optimizer && storage_.stretches[to].slot.empty()) {
                    categories_[to] = Category::gradients;
                }
            }
        }
    }

    const ir::Program& program_;
    const memory::Storage& storage_;
    const SlotIndex& slots_;
    std::vector<Traits> traits_;
    std::vector<Category> categories_;
};

} // namespace

std::vector<Category> categorise(const ir::Program& program, const memory::Storage& storage,
                                 const SlotIndex& slots) {
    return Categoriser(program, storage, slots).run();
}

std::vector<std::string> name_stretches(const ir::Program& program,
                                        const memory::Storage& storage) {
    std::vector<std::string> names(storage.stretches.size());
    const auto name = [&](ValueId id, const std::string& text) {
        std::string& own =
            names[static_cast<std::size_t>(storage.stretch_of[static_cast<std::size_t>(id.index)])];
        if (own.empty()) {
            own = text;
        }
    };
    for (const ir::Port& port : program.arguments) {
        name(port.value, port.name);
    }
    ir::walk(program.body, [&](const Op& op) {
        const std::string place = op.path.empty() ? op.kind.text() : op.kind + " " + op.path;
        for (const ValueId id : op.outputs) {
            name(id, program.value(id).name.empty() ? place : program.value(id).name);
        }
        for (const Block& body : op.body) {
            if (op.is_loop()) {
                for (const ValueId id : body.arguments) {
                    name(id, place);
                }
            }
        }
    });
    return names;
}

} // namespace weft::plan
