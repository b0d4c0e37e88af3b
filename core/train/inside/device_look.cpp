// SPDX-License-Identifier: Apache-2.0
#include "core/train/inside/device_look.h"

#include "kernels/numbers.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <type_traits>

namespace weft::train {
namespace {

constexpr const char* kWatchedProgram = "train_step";
constexpr std::string_view kGradientReader = "sum_squares"; // of all, for their global norm

std::string layer_of_weight(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return std::string(dot == std::string_view::npos ? name : name.substr(0, dot));
}

/// The kind of the op that decides what a step puts out: of a group the last one, but for those
/// that only drop or convert.
std::string_view deciding_kind(const plan::Step& step, std::size_t output) {
    if (step.op.body.empty() || step.op.body.back().results.size() <= output) {
        return step.op.kind;
    }
    const ir::Block& body = step.op.body.back();
    ir::ValueId value = body.results[output];
    for (auto op = body.ops.rbegin(); op != body.ops.rend(); ++op) {
        if (std::find(op->outputs.begin(), op->outputs.end(), value) == op->outputs.end()) {
            continue;
        }
        if (op->kind != "dropout" && op->kind != "cast") {
            return op->kind;
        }
        value = op->inputs.front();
    }
    return step.op.kind;
}

/// The last output of a step that is an activation by its size and units; null: none is. Positions
/// of a picture may be in one dimension or in two.
std::pair<const plan::Activation*, std::size_t>
output_of(const plan::Step& step, const std::vector<const plan::Activation*>& layer) {
    for (std::size_t output = step.outputs.size(); output-- > 0;) {
        const ir::Type& type = step.outputs[output].type;
        for (auto one = layer.rbegin(); one != layer.rend() && ir::is_float(type.dtype); ++one) {
            const ir::Shape& shape = (*one)->type.shape;
            if (type.shape.rank() >= 2 && shape.elements() == type.shape.elements() &&
                shape.back() == type.shape.back()) {
                return {*one, output};
            }
        }
    }
    return {nullptr, 0};
}

template <typename Fn>
void for_each_step(const std::vector<plan::Step>& steps, const Fn& fn) {
    for (const plan::Step& step : steps) {
        if (step.is_loop()) {
            for_each_step(step.steps, fn);
        } else {
            fn(step);
        }
    }
}

template <typename Stored>
void note_active(const std::byte* row, std::vector<std::uint8_t>& active,
                 const std::vector<sharding::Range>& units) {
    for (const sharding::Range& range : units) {
        for (std::int64_t i = 0; i < range.count; ++i) {
            Stored value;
            std::memcpy(&value, row + static_cast<std::size_t>(range.local + i) * sizeof(Stored),
                        sizeof value);
            bool above = false;
            if constexpr (std::is_arithmetic_v<Stored>) {
                above = value > 0;
            } else {
                above = kernels::to_float(value) > 0;
            }
            active[static_cast<std::size_t>(range.first + i)] |= above ? 1 : 0;
        }
    }
}

} // namespace

Watched watched_arrays(const plan::ExecutionPlan& plan) {
    Watched out;
    for (const plan::StateSlot& slot : plan.state_slots) {
        if (slot.category == plan::Category::parameters && slot.trainable) {
            out.parameters.push_back({&slot, layer_of_weight(slot.name)});
        }
    }
    for (const plan::PlannedProgram* program : plan.all_stages(kWatchedProgram)) {
        std::map<std::string_view, std::vector<const plan::Activation*>> known;
        for (const plan::Activation& one : plan.activations) {
            // Of several devices each normalises by its own statistics first.
            const bool is_whole = one.op != "batch_norm" || plan.mesh.single();
            if (one.stage == program->stage && one.placement.partial.empty() && is_whole &&
                one.whole.shape.rank() >= 2 && !one.path.empty() && one.path != "loss" &&
                !one.path.starts_with("metrics.")) {
                known[one.path].push_back(&one);
            }
        }
        std::map<std::string_view, std::size_t> places; // of layers in `out`
        for_each_step(program->steps, [&](const plan::Step& step) {
            const auto layer = known.find(step.op.path);
            if (step.op.phase != ir::Phase::forward || layer == known.end()) {
                return;
            }
            const auto [found, output] = output_of(step, layer->second);
            if (found == nullptr) {
                return;
            }
            const plan::Activation& activation = *found;
            const std::string_view kind = deciding_kind(step, output);
            // What dropout leaves is not what a layer does: what it reads counts for it.
            if (kind == "dropout" || kind == "cast") {
                return;
            }
            // What makes a layer's output is in a group of the next one where it is not here; what
            // follows it here completes it, on a mesh.
            const bool dropped = activation.op == "dropout";
            const auto place = places.find(layer->first);
            if (place == places.end() && !dropped && kind != activation.op) {
                return;
            }
            WatchedActivation one;
            one.layer = step.op.path;
            one.kind = dropped ? kind : activation.op;
            one.whole = {step.outputs[output].type.dtype, activation.whole.shape};
            one.placement = activation.placement;
            one.stage = program->stage;
            one.units = one.kind == "relu" ? one.whole.shape.back() : 0;
            one.step = &step;
            one.output = output;
            if (place == places.end()) {
                places.emplace(layer->first, out.activations.size());
                out.activations.push_back(std::move(one));
            } else {
                out.activations[place->second] = std::move(one);
            }
        });
    }
    return out;
}

DeviceLook::DeviceLook(const plan::ExecutionPlan& plan, const Watched& watched, int device)
    : plan_(plan), watched_(watched), device_(device), weights_(watched.parameters.size()),
      updates_(watched.parameters.size()), gradients_(watched.parameters.size()),
      activations_(watched.activations.size()) {
    const int stage = plan.stage_of(device);
    for (std::size_t i = 0; i < watched.parameters.size(); ++i) {
        const plan::StateSlot& slot = *watched.parameters[i].slot;
        if (slot.stage == stage) {
            own_.push_back(i);
            ArrayPart part(slot.whole, slot.placement, plan.mesh, device);
            if (part.elements() > 0) {
                held_.push_back({i, std::move(part), {}});
            }
        }
    }
    // Their squares are added up behind those of the others.
    std::stable_partition(own_.begin(), own_.end(),
                          [&](std::size_t i) { return !watched.parameters[i].slot->by_row; });
    for (std::size_t i = 0; i < watched.activations.size(); ++i) {
        const WatchedActivation& one = watched.activations[i];
        if (one.stage == stage) {
            makers_.emplace(one.step, i);
        }
        activation_parts_.emplace_back(one.whole, one.placement, plan.mesh, device);
    }
    clear();
}

void DeviceLook::clear() {
    next_gradient_ = 0;
    for (std::vector<Spread>* spreads : {&weights_, &updates_, &gradients_}) {
        std::fill(spreads->begin(), spreads->end(), Spread{});
    }
    for (std::size_t i = 0; i < activations_.size(); ++i) {
        activations_[i].spread = {};
        activations_[i].active.assign(static_cast<std::size_t>(watched_.activations[i].units), 0);
    }
}

void DeviceLook::begin(const SlotPart& slot) {
    clear();
    for (Held& held : held_) {
        const std::string& name = watched_.parameters[held.parameter].slot->name;
        held.part.copy_samples(slot(name).data(), held.before);
    }
}

void DeviceLook::end(const SlotPart& slot) {
    for (const Held& held : held_) {
        const exec::HostPart now = slot(watched_.parameters[held.parameter].slot->name);
        held.part.add_to(weights_[held.parameter], now.data());
        held.part.add_changes(updates_[held.parameter], now.data(), held.before);
    }
}

// Spreads as they lie in memory: ranks are the same program on the same kind of processor.
std::vector<std::byte> DeviceLook::bytes() const {
    static_assert(std::is_trivially_copyable_v<Spread>);
    std::vector<std::byte> out;
    const auto put = [&out](const void* data, std::size_t size) {
        const auto* const from = static_cast<const std::byte*>(data);
        out.insert(out.end(), from, from + size);
    };
    for (const std::vector<Spread>* spreads : {&weights_, &updates_, &gradients_}) {
        put(spreads->data(), spreads->size() * sizeof(Spread));
    }
    for (const SeenActivation& one : activations_) {
        put(&one.spread, sizeof(Spread));
        put(one.active.data(), one.active.size());
    }
    return out;
}

void DeviceLook::seen_elsewhere(std::span<const std::byte> bytes) {
    const auto take = [&bytes](void* to, std::size_t size) {
        WEFT_CHECK(bytes.size() >= size, "a rank saw what its plan has");
        std::memcpy(to, bytes.data(), size);
        bytes = bytes.subspan(size);
    };
    for (std::vector<Spread>* spreads : {&weights_, &updates_, &gradients_}) {
        take(spreads->data(), spreads->size() * sizeof(Spread));
    }
    for (SeenActivation& one : activations_) {
        take(&one.spread, sizeof(Spread));
        take(one.active.data(), one.active.size());
    }
    WEFT_CHECK(bytes.empty(), "a rank saw what its plan has");
}

void DeviceLook::seen(const plan::Step& step, const exec::StepValues& values) {
    if (step.op.phase == ir::Phase::update) {
        if (step.op.kind == kGradientReader) {
            see_gradients(step, values);
        }
        return;
    }
    if (const auto found = makers_.find(&step); found != makers_.end()) {
        see_activation(found->second, values);
    }
}

// Gradients come in the order of the parameters, in one step or in several.
void DeviceLook::see_gradients(const plan::Step& step, const exec::StepValues& values) {
    for (std::size_t i = 0; i < step.inputs.size() && next_gradient_ < own_.size(); ++i) {
        const std::size_t which = own_[next_gradient_++];
        const plan::StateSlot& slot = *watched_.parameters[which].slot;
        const ir::Type& type = step.inputs[i].type;
        const sharding::Sharding* placement = placement_of(slot, type.shape);
        if (placement == nullptr) {
            continue;
        }
        const ArrayPart part({type.dtype, slot.whole.shape}, *placement, plan_.mesh, device_);
        if (part.elements() > 0) {
            part.add_to(gradients_[which], values.input(i).data());
        }
    }
}

const sharding::Sharding* DeviceLook::placement_of(const plan::StateSlot& parameter,
                                                   const ir::Shape& local) const {
    if (parameter.type.shape == local) {
        return &parameter.placement;
    }
    // Devices that share an optimizer's state have the gradients of their shares.
    const std::string end = "/" + parameter.name;
    for (const plan::StateSlot& slot : plan_.state_slots) {
        if (slot.category == plan::Category::optimizer && slot.name.ends_with(end) &&
            slot.whole.shape == parameter.whole.shape && slot.type.shape == local) {
            return &slot.placement;
        }
    }
    return nullptr;
}

void DeviceLook::see_activation(std::size_t which, const exec::StepValues& values) {
    const ArrayPart& part = activation_parts_[which];
    if (part.elements() == 0) {
        return;
    }
    SeenActivation& out = activations_[which];
    const exec::HostPart held = values.output(watched_.activations[which].output);
    part.add_to(out.spread, held.data());
    if (out.active.empty()) {
        return;
    }
    const WatchedActivation& one = watched_.activations[which];
    const auto units = sharding::ranges(one.placement.dims.back(), one.units, plan_.mesh, device_);
    const std::int64_t row_bytes = part.type().shape.back() * ir::dtype_bytes(part.type().dtype);
    for (std::int64_t row = 0; row < part.type().shape.rows(); ++row) {
        const std::byte* at = held.data() + row * row_bytes;
        switch (part.type().dtype) {
        case ir::DType::f32: note_active<float>(at, out.active, units); break;
        case ir::DType::f64: note_active<double>(at, out.active, units); break;
        case ir::DType::bf16: note_active<kernels::bf16>(at, out.active, units); break;
        case ir::DType::f16: note_active<kernels::f16>(at, out.active, units); break;
        default: break;
        }
    }
}

} // namespace weft::train
