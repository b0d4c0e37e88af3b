// SPDX-License-Identifier: Apache-2.0
// What one device sees of weights, gradients, updates and activations while an update runs. In the
// process that has the device; of another process what its own one saw.
#pragma once

#include "core/exec/value_observer.h"
#include "core/train/inside/array_part.h"

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::train {

/// What can be looked at in an update of a plan.
struct WatchedParameter {
    const plan::StateSlot* slot = nullptr;
    std::string layer; // "blocks.0.mlp.up"
};
struct WatchedActivation {
    std::string layer;
    std::string kind; // of the op that makes it; "relu" also of a group that ends with one
    ir::Type whole;   // of one microstep
    sharding::Sharding placement;
    int stage = 0;          // of the pipeline
    std::int64_t units = 0; // of the last dimension, that can be dead; 0: they cannot
    /// The step that makes it, in the program of its stage.
    const plan::Step* step = nullptr;
    std::size_t output = 0; // of the step
};
struct Watched {
    std::vector<WatchedParameter> parameters; // in the order of the model
    std::vector<WatchedActivation> activations;
};
/// Of the training step: every trained parameter, and what each layer puts out, before dropout.
/// What lies as terms of a sum is left out.
Watched watched_arrays(const plan::ExecutionPlan& plan);

/// Shares of several devices add up.
struct SeenActivation {
    Spread spread;
    std::vector<std::uint8_t> active; // [units] whether it was ever above 0
};

/// The device's part of a slot, to be looked at.
using SlotPart = std::function<exec::HostPart(const std::string& name)>;

class DeviceLook final : public exec::ValueObserver {
public:
    /// Both outlive it.
    DeviceLook(const plan::ExecutionPlan& plan, const Watched& watched, int device);

    /// Before the update: forgets what it saw, and notes the weights.
    void begin(const SlotPart& slot);
    /// Of another process: forgets what it saw.
    void clear();
    void seen(const plan::Step& step, const exec::StepValues& values) override;
    /// After it.
    void end(const SlotPart& slot);
    /// All that it saw, for one of the same plan and device in another process.
    std::vector<std::byte> bytes() const;
    void seen_elsewhere(std::span<const std::byte> bytes) override;

    /// By the parameters and activations of `watched`; empty ones: not on this device. Gradients
    /// are those of all microsteps, before clipping.
    const std::vector<Spread>& weights() const { return weights_; }
    const std::vector<Spread>& updates() const { return updates_; }
    const std::vector<Spread>& gradients() const { return gradients_; }
    const std::vector<SeenActivation>& activations() const { return activations_; }

private:
    void see_gradients(const plan::Step& step, const exec::StepValues& values);
    void see_activation(std::size_t which, const exec::StepValues& values);
    /// Where a gradient lies that has this shape on the device.
    const sharding::Sharding* placement_of(const plan::StateSlot& parameter,
                                           const ir::Shape& local) const;

    const plan::ExecutionPlan& plan_;
    const Watched& watched_;
    const int device_;
    std::vector<std::size_t> own_; // parameters of its stage, as gradients come
    std::unordered_map<const plan::Step*, std::size_t> makers_;
    std::vector<ArrayPart> activation_parts_; // [activation]
    std::size_t next_gradient_ = 0;           // in own_
    struct Held {                             // a part of a parameter
        std::size_t parameter = 0;
        ArrayPart part;
        std::vector<std::byte> before; // its samples
    };
    std::vector<Held> held_;
    std::vector<Spread> weights_, updates_, gradients_;
    std::vector<SeenActivation> activations_;
};

} // namespace weft::train
