// SPDX-License-Identifier: Apache-2.0
// A run that starts with weights of another one: init.from in the configuration. Arrays are matched
// by their names; what does not fit is listed.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/exec/executor.h"

#include <string>
#include <vector>

namespace weft::train {

struct WarmStart {
    std::filesystem::path source;
    bool averaged = false;   // with the moving averages that its run was measured with
    std::int64_t loaded = 0; // parameters and running statistics
    std::vector<std::string>
        missing; // of the model, not in the source: they keep their start value
    std::vector<std::string> misfits; // in both, of another shape: likewise
    std::vector<std::string> unused;  // in the source, not in the model
};

/// Overwrites parameters and running statistics by those at init.from: a checkpoint folder, a run
/// folder (its newest checkpoint) or a safetensors file. A run that was measured with averaged
/// weights gives those; averages here start as the weights. With init.strict every parameter must
/// be there and fit. f16, bf16 and f64 become what the model keeps. Throws weft::Error{checkpoint},
/// naming every mismatch.
WarmStart load_start_weights(exec::Executor& executor, const compile::RunConfig& config);

/// "18 arrays from gpt2.safetensors; not there: head.weight; …": one sentence for a log.
std::string to_text(const WarmStart& start);

} // namespace weft::train
