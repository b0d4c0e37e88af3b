// SPDX-License-Identifier: Apache-2.0
// A run that starts with weights of another one, or of another program: init.from in the
// configuration. Arrays are matched by their names, here or there; what does not fit is listed.
#pragma once

#include "core/base/error.h"
#include "core/checkpoint/safetensors.h"
#include "core/compile/config/run_config.h"
#include "core/exec/executor.h"
#include "core/foreign/match.h"
#include "core/nn/layers/lora.h"
#include "core/train/progress.h"

#include <optional>
#include <string>
#include <vector>

namespace weft::train {

struct WarmStart {
    std::filesystem::path source;
    bool averaged = false; // with the moving averages that its run was measured with
    foreign::Arrays arrays;
    foreign::Match match;
    /// Settings there that make other numbers of the same weights, by the config.json beside them:
    /// "model.rope_theta is 10000.0, 500000.0 there", or what cannot be had here at all.
    std::vector<std::string> differences;
};

/// Whether a run was measured with its averaged weights: then these are what it has to give.
bool evaluates_average(const checkpoint::Manifest& manifest);
/// The low-rank factors that a run trained; none: it did not.
std::optional<nn::Lora> lora_of(const checkpoint::Manifest& manifest);
/// What a checkpoint has to give, with what it leaves to the weights of init.from: parameters and
/// running statistics, averaged where the run was measured with averages, low-rank factors beside
/// the weights that they are for.
foreign::Arrays parts_of(const checkpoint::Manifest& manifest);
/// The same as a model without factors: they are added to their weights.
foreign::Arrays weights_of(const checkpoint::Manifest& manifest);
/// What an export by our own names writes: every array but optimizer state as it is; of a run with
/// low-rank factors weights_of. `manifest` must outlive them.
std::vector<checkpoint::ArrayToWrite> exported_weights(const checkpoint::Manifest& manifest);

/// The tensors that init.from can fill in a model for these samples.
std::vector<foreign::Tensor> start_weights_of(const compile::RunConfig& config,
                                              const data::SampleInfo& sample);

/// What init.from has for them: a checkpoint folder, a run folder (its newest checkpoint), a
/// safetensors file, the index of several, or a folder with one of these and a config.json; one in
/// an object store is copied to this machine first. Reads names and shapes alone. Throws
/// weft::Error{checkpoint} where it cannot be opened.
WarmStart match_start_weights(const compile::RunConfig& config,
                              const std::vector<foreign::Tensor>& wanted);

/// The low-rank factors that init.lora.from can fill, and what it has for them; nullopt: it is
/// null. Throws weft::Error{checkpoint} where it cannot be opened.
std::vector<foreign::Tensor> start_factors_of(const compile::RunConfig& config,
                                              const data::SampleInfo& sample);
std::optional<WarmStart> match_start_factors(const compile::RunConfig& config,
                                             const std::vector<foreign::Tensor>& wanted);

/// Why a run must not start with these factors; none: it may. With init.strict each of them must
/// fit a layer; layers that have none there start without.
std::optional<Error> refusal_of_factors(const WarmStart& start, bool strict);

/// Why a run must not start like that; none: it may. With init.strict every parameter must be there
/// and fit, and mean the same.
std::optional<Error> refusal_of(const WarmStart& start, bool strict);

/// Overwrites parameters and running statistics by those at init.from. A run that was measured with
/// averaged weights gives those; averages here start as the weights. f16, bf16 and f64 become what
/// the model keeps. Throws weft::Error{checkpoint}, naming every mismatch.
WarmStart load_start_weights(exec::Executor& executor, const compile::RunConfig& config);

/// The same of the factors at init.lora.from; nullopt: it is null.
std::optional<WarmStart> load_start_factors(exec::Executor& executor,
                                            const compile::RunConfig& config);

/// What checkpoints of this executor leave to the weights of init.from; nullopt: they hold all.
std::optional<LeftToBase> left_to_base(exec::Executor& executor);
/// Loads init.from before the arrays of a checkpoint that leaves parameters to it; nothing where it
/// leaves none. Throws weft::Error{checkpoint}: the weights are not there, or not those of then.
void load_base(exec::Executor& executor, const compile::RunConfig& config,
               const checkpoint::Manifest& manifest);

/// "started with 18 arrays of gpt2.safetensors; not there: head.weight; …": one sentence for a log.
std::string to_text(const WarmStart& start);

} // namespace weft::train
