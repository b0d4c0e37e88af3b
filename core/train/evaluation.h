// SPDX-License-Identifier: Apache-2.0
// Metrics of a split, and predictions on single samples, with the weights that the executor holds.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/data/loader.h"
#include "core/exec/executor.h"
#include "core/train/record/event.h"

#include <optional>
#include <span>
#include <stop_token>
#include <string>

namespace weft::train {

class RankRows;

/// Loss and metrics over `source` as "<split>/<name>": sums of batches divided by the true count,
/// so a short last batch counts exactly. At most `max_batches`; 0: all. Nullopt when stopped.
/// `left_out` takes the samples that are damaged and counted nowhere. `ranks`: the processes of the
/// other devices, where each has one. Throws weft::Error{data}.
std::optional<Metrics> evaluate(exec::Executor& executor, const compile::RunConfig& config,
                                const std::shared_ptr<const data::Source>& source,
                                const std::string& split, std::int64_t max_batches,
                                std::stop_token stop, std::vector<data::LeftOut>& left_out,
                                RankRows* ranks = nullptr);

/// What the model says about one sample.
struct SamplePrediction {
    std::int64_t index = 0;
    std::int32_t label = -1;    // -1: the source has none
    std::string fault;          // of a damaged sample, of which nothing is said below
    // Probabilities of the classes, outputs in the files' units, a point, or the symbols read.
    std::vector<double> values;
    std::vector<std::pair<std::int64_t, double>> top; // classes: the most probable first
};

/// Standardised numbers in the units of the data's files, in place.
void rescale(const data::TargetScale& scale, std::vector<double>& values);

/// Metrics that are distances between targets likewise: where all targets have one scale.
void rescale(const data::TargetScale& scale, Metrics& metrics);

/// Whether the model says something of targets; else it makes samples.
bool predicts(const exec::Executor& executor);

/// Predictions on the samples `indices` of `source`; `top` classes each. Throws weft::Error{usage}
/// for a model that predicts nothing: it gives samples back.
std::vector<SamplePrediction> predict(exec::Executor& executor, const data::Source& source,
                                      std::span<const std::int64_t> indices, std::size_t top);

} // namespace weft::train
