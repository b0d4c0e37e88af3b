// SPDX-License-Identifier: GPL-3.0-or-later
// How the batch of an update is dealt out: samples = micro batch x accumulation x data shards. What
// an edit of one of them comes to, or why it cannot be. Pure.
#pragma once

#include "core/compile/programs/programs.h"

#include <QString>

#include <cstdint>
#include <string>
#include <vector>

namespace weft::ui {

/// "--set" assignments, or why there are none, in words.
struct BatchOutcome {
    std::vector<std::string> assignments;
    QString problem;
};

/// Another micro batch or accumulation of the same samples: the other one follows.
BatchOutcome withMicroBatch(const compile::RunConfig& config, std::int64_t micro);
BatchOutcome withAccumulation(const compile::RunConfig& config, std::int64_t steps);
/// Other samples an update in micro batches as large as before.
BatchOutcome withSamples(const compile::RunConfig& config, std::int64_t samples);

/// The next number above or below that divides a shard's samples; the number itself: there is none.
std::int64_t nextDivisor(const compile::BatchPlan& batch, std::int64_t from, bool up);
/// Samples by which a batch can grow or shrink with its micro batch as it is.
std::int64_t samplesStep(const compile::RunConfig& config);

} // namespace weft::ui
