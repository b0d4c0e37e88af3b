// SPDX-License-Identifier: Apache-2.0
// What to say, and to offer, when a loss or a gradient is not finite.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/data/loader.h"
#include "core/exec/executor.h"
#include "core/train/record/event.h"
#include "core/train/rewind/batch_record.h"
#include "core/train/rewind/layer_norms.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::train {

struct Divergence {
    std::int64_t step = 0; // number of the update that was not taken
    double loss = 0;
    double grad_norm = 0;
    double loss_scale = 0;             // in f16
    exec::RunReport report;            // of the checked replay
    std::int64_t last_checkpoint = -1; // step; -1: none
    std::string bad_data;              // place of the first sample that is no number; may be empty
    std::string sample;                // place of the first sample of the bad value; may be empty
    std::string unread;                // why the batch could not be read again; empty: it was
    bool spoils = false;               // the numbers are good, the weights that it makes are not
    std::int64_t left_out = 0;         // updates near it that were left out before
    BatchRecord batch{};               // its samples
    LayerNorms norms{};                // of gradients, up to this update
};

/// The row of a training batch that the first bad value belongs to, where its array has a row for
/// each of the `rows` samples of a microstep.
std::optional<std::int64_t> row_of_bad_value(const exec::RunReport& report, std::int64_t rows);

/// Everything that can be changed to get on, each a fork from the checkpoint `from`, the likeliest
/// first; -1: from the beginning.
std::vector<WayOn> ways_past(const Divergence& what, const compile::RunConfig& config,
                             std::int64_t from);

/// The place of the first sample of a training batch whose input or target is not finite, or of the
/// one that it was mixed with (`mixing` may be null); empty when all are.
std::string place_of_bad_data(const data::Batch& batch, const data::Source& source,
                              const data::Sampler& sampler, const data::Mixing* mixing);

/// The row of a training batch whose input or target is not finite.
std::optional<std::int64_t> row_of_bad_data(const data::Batch& batch, const data::SampleInfo& info);

/// The place of the sample of a training batch that the first bad value belongs to, where its array
/// has a row for each of the `rows` samples of a microstep; else empty.
std::string place_of_bad_value(const exec::RunReport& report, std::int64_t rows,
                               const data::Batch& batch, const data::Source& source,
                               const data::Sampler& sampler);

/// The error event: the first bad op and its layer, and the first three of ways_past. An exact
/// resume would meet the same numbers again, so every way on changes something.
ErrorEvent explain_divergence(const Divergence& what, const compile::RunConfig& config);

} // namespace weft::train
