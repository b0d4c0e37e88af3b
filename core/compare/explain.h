// SPDX-License-Identifier: Apache-2.0
// What mattered: how each setting in which runs differ goes with one of their metrics.
#pragma once

#include "core/compare/settings.h"
#include "core/compare/statistics.h"

namespace weft::compare {

struct Explained {
    std::string path;
    std::optional<Measured> share;       // of the metric's variance: statistics.h, variance_share
    std::optional<Measured> correlation; // of ranks; settings that are numbers only
    /// The value, or the range "a to b" of neighbours, whose runs have the best mean.
    std::string best;
    double best_mean = 0;
};

/// Numbers with more values than this are taken together with their neighbours.
inline constexpr std::size_t kMostGroups = 6;

/// Those that explain most first; what cannot be told stands last. `results` are of the runs whose
/// values the settings hold, NaN where a run has none.
std::vector<Explained> explain(std::span<const VaryingSetting> settings,
                               std::span<const double> results, bool smaller_is_better);

} // namespace weft::compare
