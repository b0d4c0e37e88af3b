// SPDX-License-Identifier: Apache-2.0
// What may change while a run goes on (`set` and `extend`). Part of every checkpoint, so that a
// resumed run goes on the way it was going. Everything else is frozen; changing it is a fork.
#pragma once

#include "core/compile/config/run_config.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::train {

struct LiveSettings {
    double learning_rate_multiplier = 1.0;            // "learning_rate_multiplier": number > 0
    compile::Cadence length;                          // "training.length": {"steps": N} | ...
    std::int64_t extra_steps = 0;                     // by `extend`; after `length`
    compile::Cadence evaluation_every;                // "evaluation.every"
    std::optional<compile::Cadence> checkpoint_every; // "checkpoint.every"; null turns it off
    std::int64_t log_every = 1;                       // "training.log_every": whole number > 0
    std::int64_t inside_every = 0;                    // "log.inside_every": whole number; 0: never
    /// "frozen": names or patterns of layers that stay as they are.
    std::vector<std::string> frozen;

    // What decides on an order, and never changes.
    double base_learning_rate = 0; // "optimizer.learning_rate" gives a multiple of it
    bool freezable = false;        // training.freezable
    /// Layers that can be frozen; null while they are not known.
    std::shared_ptr<const std::vector<std::string>> layers{};
};

/// What is set otherwise in `after`: path and value as `set` has them; of `extend` "extend" and how
/// many steps there are beside the length.
std::vector<std::pair<std::string, config::Json>> differences(const LiveSettings& before,
                                                              const LiveSettings& after);

/// Whether a pattern of `frozen` is of this layer: its name, one that it lies in, or a pattern with
/// * and ?.
bool freezes(const std::string& pattern, const std::string& layer);

LiveSettings live_settings_of(const compile::RunConfig& config);

/// Carries out {"path": ..., "value": ...}; also "extend" as differences() has it. Returns why not;
/// empty when done.
std::string apply_set(LiveSettings& settings, const config::Json& argument);
/// Carries out {"steps": N}. Returns why not; empty when done.
std::string apply_extend(LiveSettings& settings, const config::Json& argument);

config::Json to_json(const LiveSettings& settings);
/// Reads what to_json wrote; keys that are absent keep their value in `settings`. Returns what is
/// wrong with it, by the rules of apply_set; empty when all is read. What is frozen is left out
/// where layers cannot be.
std::string read_live_settings(const config::Json& json, LiveSettings& settings);

} // namespace weft::train
