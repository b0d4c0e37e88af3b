// SPDX-License-Identifier: Apache-2.0
// Small runs of the three kinds of models that the memory claims are about, on made-up data.
#pragma once

#include "core/compile/run_config.h"

#include <string>
#include <vector>

namespace weft::test {

/// "mlp", "cnn" or "gpt". Fails the test binary when the result is not valid.
compile::RunConfig model_run(const std::string& model,
                             const std::vector<std::string>& overrides = {});

} // namespace weft::test
