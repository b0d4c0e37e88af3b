// SPDX-License-Identifier: Apache-2.0
// Successive halving (Jamieson and Talwalkar 2016, "Non-stochastic Best Arm Identification and
// Hyperparameter Optimization", figure 1, with the factor eta of Li et al. 2018, "Hyperband",
// algorithm 1), and its asynchronous form (Li et al. 2020, "A System for Massively Parallel
// Hyperparameter Tuning", algorithm 2). What is known of the trials goes in, what becomes of each
// comes out: no files, no processes, no memory of earlier calls.
//
// A failed trial, and one whose value is no finite number, is worse than all others. It counts
// among those of its rung and is never promoted. Of equal values that of the earlier trial is
// better.
#pragma once

#include "core/config/json.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::queue {

struct HalvingRules {
    bool asynchronous = false;
    int eta = 3; // of a rung's trials one in so many goes on, and at least one; at least 2
    std::vector<std::int64_t> rungs; // steps, rising
    bool smaller_is_better = true;
};

/// Rungs at least * eta^k, the last of which is `most`: as many as there are powers of eta in most
/// / least. Both at least 1, least <= most.
std::vector<std::int64_t> rungs_of(std::int64_t least, std::int64_t most, int eta);
/// The least for which `trials` are halved down to those below eta, of which one more is trained to
/// `most`.
std::int64_t least_of(std::int64_t trials, std::int64_t most, int eta);

/// What is known of a trial. They are numbered by their place.
struct TrialProgress {
    std::vector<double> values; // at the rungs that it has reached, in order; NaN: it has none
    bool ended = false;         // it reaches no further rung: it failed, or was stopped
    std::size_t rung = 0;       // that it was told to train to
};

enum class Verdict : std::uint8_t {
    train,    // to `rung`
    wait,     // it has reached `rung`, others have not
    stop,     // early: others were better at `rung`
    complete, // it has reached the last rung
    lost,     // it ended before `rung`
};

struct Decision {
    Verdict verdict = Verdict::train;
    std::size_t rung = 0;
    std::size_t place = 0; // among those of the rung, from 1; 0: not known
    std::size_t of = 0;    // so many they are
    friend bool operator==(const Decision&, const Decision&) = default;
};

/// One for each trial.
std::vector<Decision> decide(const HalvingRules& rules, std::span<const TrialProgress> trials);

/// The best of those that got furthest; none while none has a value.
std::optional<std::size_t> best_trial(const HalvingRules& rules,
                                      std::span<const TrialProgress> trials);

} // namespace weft::queue
