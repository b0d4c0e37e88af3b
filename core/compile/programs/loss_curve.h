// SPDX-License-Identifier: Apache-2.0
// A loss as a picture: of one term, over its first output.
#pragma once

#include "core/config/json.h"

#include <optional>
#include <vector>

namespace weft::compile {

struct LossProbe {
    double target = 0; // what the targets are, where they are numbers
    double low = -5, high = 5;
    int points = 201; // 2 at least
};

struct LossCurve {
    bool of_classes = false;            // y[0] is the logit of the true class; else of one number
    std::vector<double> y, loss, slope; // slope: by y[0]
};

/// The loss of a checked section "loss"; other outputs are 0. nullopt: it cannot be built whatever
/// the data.
std::optional<LossCurve> loss_curve(const config::Json& loss, const LossProbe& probe);

} // namespace weft::compile
