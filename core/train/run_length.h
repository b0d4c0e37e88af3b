// SPDX-License-Identifier: Apache-2.0
// Lengths and cadences in steps: pure arithmetic on the configuration and the size of the data.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/data/dataset.h"

#include <cstdint>

namespace weft::train {

/// A run that saves and has saved nothing yet does so at the first step that ends this long after
/// it began, whatever its cadence: a crash before costs little.
inline constexpr double kFirstSaveSeconds = 30;

/// What a run counts in.
struct Pace {
    std::int64_t samples_per_epoch = 0;
    std::int64_t steps_per_epoch = 0;   // updates; the last one may be short unless drop_last
    std::int64_t batch_size = 0;        // samples per update
    std::int64_t tokens_per_sample = 0; // 0: samples are not sequences
};

Pace pace_of(const compile::RunConfig& config, const data::Source& train);
/// The same of data that is only known in outline.
Pace pace_of(const compile::RunConfig& config, std::int64_t samples, const data::SampleInfo& info);

/// Steps of a length; 0 when it is measured in minutes. Epochs are rounded up to whole steps.
/// Throws weft::Error{usage} for a length in tokens of data that has none.
std::int64_t total_steps(const compile::Cadence& length, const Pace& pace);

/// Whether the cadence asks for something after step `step` (> 0), the last such thing having been
/// `seconds_since` seconds ago.
bool is_due(const compile::Cadence& cadence, const Pace& pace, std::int64_t step,
            double seconds_since);

} // namespace weft::train
