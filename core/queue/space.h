// SPDX-License-Identifier: Apache-2.0
// What a sweep varies: settings with the values that they may have, and trials drawn from them.
// Pure: the same text and seed give the same trials.
#pragma once

#include "core/config/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::queue {

/// One setting.
struct Dimension {
    enum class Kind : std::uint8_t {
        choices,      // of a list
        integers,     // of a range, both ends included
        log_integers, // the same, their logarithm uniform
        uniform,      // real, in a range
        log,          // real, its logarithm uniform
    };
    std::string path; // "optimizer.learning_rate", as for --set
    Kind kind = Kind::choices;
    std::vector<config::Json> choices;
    double low = 0;
    double high = 0;
    int points = 0; // of the range in a grid; 0: not said
};

/// "training.global_batch_size=32,64,128", "optimizer.learning_rate=log:1e-4..1e-2",
/// "model.dropout=uniform:0..0.5", "model.layers=int:1..8", "model.width=logint:16..256"; a range
/// for a grid says how many points, evenly spaced: "log:1e-4..1e-2:5". Commas inside brackets and
/// quotes part nothing. Throws weft::Error{usage}.
Dimension parse_dimension(std::string_view text);

/// A value for each setting, by its path.
using Settings = std::vector<std::pair<std::string, config::Json>>;

/// How many trials a grid has; none where a setting has a real range without points.
std::optional<std::int64_t> combinations(const std::vector<Dimension>& space);
/// Every combination; the last setting changes fastest. Throws weft::Error{usage} for a range of
/// real numbers without points, and for more than 10,000 trials.
std::vector<Settings> grid_of(const std::vector<Dimension>& space);
/// `trials` that are drawn independently; of a finite space no two are equal. Trial i is the same
/// however many there are. Throws weft::Error{usage} where a finite space has fewer.
std::vector<Settings> draw_from(const std::vector<Dimension>& space, std::int64_t trials,
                                std::uint64_t seed);

/// "key.path=value" for each: "--set" assignments.
std::vector<std::string> assignments_of(const Settings& settings);

} // namespace weft::queue
