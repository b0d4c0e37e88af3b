// SPDX-License-Identifier: Apache-2.0
// Norms of gradients by layer, of a few updates that follow each other.
#pragma once

#include "core/config/json.h"
#include "core/exec/executor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::train {

/// What Update::run_checked needs for it.
exec::Checking watch_gradients();

class LayerNorms {
public:
    /// Adds what a checked run saw of the gradients of an update. `loss_scale` is what they were
    /// multiplied by.
    void add(std::int64_t step, const exec::RunReport& report, const plan::ExecutionPlan& plan,
             double loss_scale);

    bool is_empty() const { return steps_.empty(); }
    /// {"steps": [...], "parts": whether they are of what one device holds, "layers": [{"name",
    /// "norms": [...]}]} in the order of the model. Those not finite are texts, those not known
    /// null.
    config::Json to_json() const;

private:
    struct Layer {
        std::string name;
        std::vector<double> norms; // one for each of steps_; negative: not known
    };
    std::vector<std::int64_t> steps_;
    std::vector<Layer> layers_;
    bool parts_ = false;
};

} // namespace weft::train
