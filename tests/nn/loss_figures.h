// SPDX-License-Identifier: Apache-2.0
// Runs a loss and its gradient on numbers written in a test.
#pragma once

#include "core/exec/interpreter.h"
#include "core/nn/loss_def.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::test {

struct LossFigures {
    std::vector<double> terms;
    std::vector<double> gradient; // of the sum of terms, by output
};

/// Outputs [samples, K], or of symbols [samples, positions, classes]; targets are numbers of a
/// sample, or else a class.
struct LossInput {
    std::int64_t samples = 2;
    std::vector<float> outputs{};
    std::vector<float> numbers{};
    std::vector<std::int32_t> classes{};
    std::vector<std::int32_t> others{}; // of mixed samples, with `shares`
    std::vector<float> shares{};
    std::int64_t positions = 0; // of symbols
};

/// Settings as written in a configuration, with the "type". Throws what building throws.
LossFigures figures_of(const std::string& settings, const LossInput& input);

} // namespace weft::test
