// SPDX-License-Identifier: Apache-2.0
#include "core/train/control/freezable_layers.h"

#include "core/compile/programs/programs.h"

#include <algorithm>

namespace weft::train {

std::vector<std::string> freezable_layers(const plan::ExecutionPlan& plan) {
    std::vector<std::string> out;
    for (const plan::PlannedProgram& program : plan.programs) {
        for (const plan::PlannedPort& port : program.arguments) {
            const std::string layer = compile::frozen_layer(port.name);
            if (program.name == "train_step" && !layer.empty() &&
                std::find(out.begin(), out.end(), layer) == out.end()) {
                out.push_back(layer);
            }
        }
    }
    return out;
}

} // namespace weft::train
