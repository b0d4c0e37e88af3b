// SPDX-License-Identifier: Apache-2.0
// Looks inside the network during single updates: weights, gradients, updates and activations by
// layer. Changes no bit of a run, and costs nothing in the updates between. On the thread of the
// step loop.
//
//   watch.begin();                 // the weights are noted
//   ... the update runs ...
//   write(watch.end(step, samples, loss_scale));
#pragma once

#include "core/exec/executor.h"
#include "core/train/inside/device_look.h"

#include <memory>
#include <vector>

namespace weft::train {

/// What was seen of a parameter in one update; on a mesh of the whole array.
struct ParameterLook {
    Spread weights;         // after the update
    Spread gradients;       // before clipping; empty where they are not known
    Spread updates;         // what was added, of a sample of the elements
    double update_norm = 0; // of all of them: where the sample is not all, an estimate

    /// Norm of the update over that of the weights; 0 where all of those are 0.
    double update_ratio = 0;
};
struct ActivationLook {
    Spread spread;         // of all microsteps
    std::int64_t dead = 0; // units that were above 0 for no sample
};
struct InsideLook {
    std::int64_t step = 0;
    std::int64_t samples = 0;                // of the batch
    std::vector<ParameterLook> parameters;   // by Watched::parameters
    std::vector<ActivationLook> activations; // by Watched::activations
};

class LayerWatch {
public:
    /// The executor outlives it.
    explicit LayerWatch(exec::Executor& executor);
    ~LayerWatch();
    LayerWatch(const LayerWatch&) = delete;
    LayerWatch& operator=(const LayerWatch&) = delete;

    /// The next update is looked into.
    void begin();
    bool is_on() const { return is_on_; }
    /// It was taken. `loss_scale` is what gradients were multiplied by; 0: by nothing.
    InsideLook end(std::int64_t step, std::int64_t samples, double loss_scale);
    /// It was not.
    void drop();

    const Watched& watched() const { return watched_; }

private:
    void observe(bool on);

    exec::Executor& executor_;
    Watched watched_;
    std::vector<std::unique_ptr<DeviceLook>> devices_;
    bool is_on_ = false;
};

/// Host memory that it takes for a plan.
std::int64_t watch_bytes(const plan::ExecutionPlan& plan);

} // namespace weft::train
