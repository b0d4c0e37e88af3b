// SPDX-License-Identifier: Apache-2.0
#include "core/train/inside/layer_watch.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>

namespace weft::train {

LayerWatch::LayerWatch(exec::Executor& executor)
    : executor_(executor), watched_(watched_arrays(executor.plan())) {
    const plan::ExecutionPlan& plan = executor.plan();
    for (int device = 0; device < static_cast<int>(plan.mesh.devices()); ++device) {
        devices_.push_back(std::make_unique<DeviceLook>(plan, watched_, device));
    }
}

LayerWatch::~LayerWatch() {
    try {
        drop();
    } catch (const Error&) {
        // A rank that is lost sees nothing any more.
    }
}

void LayerWatch::observe(bool on) {
    is_on_ = on;
    for (std::size_t device = 0; device < devices_.size(); ++device) {
        executor_.set_value_observer(on ? devices_[device].get() : nullptr,
                                     static_cast<int>(device));
    }
}

// Devices of other processes note their weights where they are, when they are observed.
void LayerWatch::begin() {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        const auto device = static_cast<int>(i);
        if (executor_.is_here(device)) {
            devices_[i]->begin(
                [&](const std::string& name) { return executor_.slot(name, device); });
        } else {
            devices_[i]->clear();
        }
    }
    observe(true);
}

void LayerWatch::drop() {
    if (is_on_) {
        observe(false);
    }
}

InsideLook LayerWatch::end(std::int64_t step, std::int64_t samples, double loss_scale) {
    observe(false);
    InsideLook out;
    out.step = step;
    out.samples = samples;
    out.parameters.resize(watched_.parameters.size());
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        const auto device = static_cast<int>(i);
        if (executor_.is_here(device)) {
            devices_[i]->end([&](const std::string& name) { return executor_.slot(name, device); });
        }
    }
    for (std::size_t i = 0; i < out.parameters.size(); ++i) {
        ParameterLook& look = out.parameters[i];
        for (const auto& device : devices_) {
            look.weights.add(device->weights()[i]);
            look.updates.add(device->updates()[i]);
            look.gradients.add(device->gradients()[i]);
        }
        if (loss_scale > 0) {
            look.gradients.divide(loss_scale);
        }
        const double all = static_cast<double>(look.weights.count);
        const double sampled = static_cast<double>(std::max<std::int64_t>(1, look.updates.count));
        look.update_norm = look.updates.norm() * std::sqrt(all / sampled);
        const double norm = look.weights.norm();
        look.update_ratio = norm > 0 ? look.update_norm / norm : 0;
    }
    for (std::size_t i = 0; i < watched_.activations.size(); ++i) {
        ActivationLook look;
        std::vector<std::uint8_t> active(static_cast<std::size_t>(watched_.activations[i].units),
                                         0);
        for (const auto& device : devices_) {
            const SeenActivation& seen = device->activations()[i];
            look.spread.add(seen.spread);
            std::transform(active.begin(), active.end(), seen.active.begin(), active.begin(),
                           std::bit_or<>());
        }
        look.dead = std::count(active.begin(), active.end(), 0);
        out.activations.push_back(std::move(look));
    }
    return out;
}

// The samples, at most so many of each parameter on each of its devices.
std::int64_t watch_bytes(const plan::ExecutionPlan& plan) {
    std::int64_t bytes = 0;
    for (const plan::StateSlot& slot : plan.state_slots) {
        if (slot.category == plan::Category::parameters && slot.trainable) {
            const std::int64_t parts =
                (slot.whole.shape.elements() + slot.type.shape.elements() - 1) /
                std::max<std::int64_t>(1, slot.type.shape.elements());
            bytes += parts * ir::dtype_bytes(slot.type.dtype) *
                     std::min(slot.type.shape.elements(), ArrayPart::kMostSampled);
        }
    }
    return bytes;
}

} // namespace weft::train
