// SPDX-License-Identifier: Apache-2.0
// The schedule "plateau": a factor that falls when an evaluation's metric has not improved for some
// time. Who evaluates keeps what it remembers, and a resumed run goes on from there.
#pragma once

#include "core/config/field.h"

#include <cstdint>
#include <optional>
#include <string>

namespace weft::optim {

struct Plateau {
    double factor = 1; // of the learning rate, now
    std::optional<double> best;
    std::int64_t bad = 0;     // evaluations since then that were no better
    std::int64_t cooling = 0; // evaluations that still count nothing

    friend bool operator==(const Plateau&, const Plateau&) = default;
};

/// The metric that a schedule looks at, "validation/loss"; empty: it looks at none.
std::string watched_metric(const config::Json& lr_schedule);

/// After one more evaluation, of which `value` is the metric. The rule is PyTorch's
/// ReduceLROnPlateau with an absolute threshold. NaN is no improvement.
Plateau after_evaluation(const config::Json& lr_schedule, Plateau so_far, double value);

} // namespace weft::optim
