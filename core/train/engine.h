// SPDX-License-Identifier: Apache-2.0
// From a configuration to a machine that can run its programs: the steps that a session, `weft
// eval`, `weft predict` and `weft generate` share.
#pragma once

#include "core/compile/programs/programs.h"
#include "core/exec/executor.h"
#include "core/train/compute.h"
#include "core/train/progress.h"

#include <memory>
#include <stop_token>

namespace weft::train {

/// What `threads` (0: all that this process may use) comes to, within OMP_THREAD_LIMIT.
int thread_count(int threads);

/// Opens the data of a run. Throws weft::Error{data}; `stop` ends it by weft::Error{runtime}.
data::DataSet open_run_data(const compile::RunConfig& config, const std::stop_token& stop = {},
                            const data::OnOpening& on_opening = {});

/// Steps of a run's length; 0: it is measured in minutes. Opens the data where it is in epochs or
/// tokens. Throws weft::Error{data}.
std::int64_t steps_of(const compile::RunConfig& config);

/// Where a loss looks for symbols among the positions that a model puts out: whether those of some
/// samples, from all over, have room. They need a position each, and one between two that are alike
/// (Graves et al. 2006); a sample without has an infinite loss. Throws weft::Error{data}.
void check_room_for_symbols(const plan::ExecutionPlan& plan, const compile::RunConfig& config,
                            const data::Source& source);

/// Fills every slot with its start value: the init program under the run's seed.
void initialise(exec::Executor& executor, const compile::RunConfig& config);

/// A saved model, ready to evaluate, predict or generate.
struct LoadedModel {
    compile::RunConfig config;
    checkpoint::Manifest manifest;
    data::DataSet data;
    std::shared_ptr<const plan::ExecutionPlan> plan;
    std::unique_ptr<exec::Executor> executor;
};

/// `path` is a checkpoint folder or a run folder (then `from` says which: "best", "latest" or a
/// step). Throws weft::Error{checkpoint}.
std::filesystem::path find_checkpoint(const std::filesystem::path& path, const std::string& from);

/// The configuration that was saved with the weights, changed by `overrides` ("--set").
compile::CheckedRun read_saved_config(const checkpoint::Manifest& manifest,
                                      const std::vector<std::string>& overrides = {});

/// The same where it must be valid here, with the tokenizer that lies in the checkpoint. Throws
/// weft::Error{checkpoint}.
compile::RunConfig saved_config(const checkpoint::Manifest& manifest);

/// `config` null: the configuration that was saved with the weights.
LoadedModel load_model(const std::filesystem::path& checkpoint_folder,
                       const compile::RunConfig* config, int threads);

} // namespace weft::train
