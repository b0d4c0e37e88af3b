// SPDX-License-Identifier: Apache-2.0
// What may change while a run goes on (`set` and `extend`). Part of every checkpoint, so that a
// resumed run goes on the way it was going. Everything else is frozen; changing it is a fork.
#pragma once

#include "core/compile/config/run_config.h"

#include <cstdint>
#include <optional>
#include <string>

namespace weft::train {

struct LiveSettings {
    double learning_rate_multiplier = 1.0;            // "learning_rate_multiplier": number > 0
    compile::Cadence length;                          // "training.length": {"steps": N} | ...
    std::int64_t extra_steps = 0;                     // by `extend`; after `length`
    compile::Cadence evaluation_every;                // "evaluation.every"
    std::optional<compile::Cadence> checkpoint_every; // "checkpoint.every"; null turns it off
};

LiveSettings live_settings_of(const compile::RunConfig& config);

/// Carries out {"path": ..., "value": ...}. Returns why not; empty when done.
std::string apply_set(LiveSettings& settings, const config::Json& argument);
/// Carries out {"steps": N}. Returns why not; empty when done.
std::string apply_extend(LiveSettings& settings, const config::Json& argument);

config::Json to_json(const LiveSettings& settings);
/// Reads what to_json wrote; keys that are absent keep their value in `settings`. Returns what is
/// wrong with it, by the rules of apply_set; empty when all is read.
std::string read_live_settings(const config::Json& json, LiveSettings& settings);

} // namespace weft::train
