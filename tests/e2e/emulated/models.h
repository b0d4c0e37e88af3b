// SPDX-License-Identifier: Apache-2.0
// The runs that are trained on emulated GPUs. Their elementwise kernels are compiled with the test.
#pragma once

#include <string>
#include <vector>

namespace weft::test {

struct EmulatedModel {
    std::string name;
    std::string document;
    std::vector<std::string> overrides; // "--set" texts
    double tolerance = 1e-4;            // of losses and weights against the CPU, relative
};

/// One device each, then every strategy on several.
const std::vector<EmulatedModel>& emulated_models();

} // namespace weft::test
