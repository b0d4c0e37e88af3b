// SPDX-License-Identifier: Apache-2.0
#include "core/optim/plateau.h"

#include "core/optim/schedule.h"

#include <algorithm>
#include <cmath>

namespace weft::optim {
namespace {

using config::Json;

config::FieldTable plateau_fields() {
    return {
        config::text_field("metric", "validation/loss",
                           "What has to improve, such as validation/loss."),
        config::choice_field("mode", "min", {"min", "max"},
                             "Which direction of the metric is better."),
        config::real_field("factor", 0.1, "Factor by which the rate falls.")
            .range(0.0, 0.999)
            .above(0.0),
        config::integer_field("patience", 10,
                              "So many evaluations without improvement are borne; at one more "
                              "the rate falls.")
            .at_least(0)
            .in("evaluations"),
        config::real_field("min_delta", 0.0, "Smaller improvements do not count.").at_least(0.0),
        config::integer_field("cooldown", 0, "Evaluations after a fall that count as improvements.")
            .at_least(0)
            .in("evaluations"),
        config::real_field("end_factor", 0.0, "The rate falls no lower than this factor of it.")
            .range(0.0, 1.0)};
}

/// Of the updates done it knows nothing.
double plateau_factor(const Json&, const SchedulePoint&) {
    return 1.0;
}

} // namespace

const ScheduleDef kPlateauSchedule = {
    "plateau", "The base rate, which falls when evaluations no longer improve.", plateau_fields,
    plateau_factor};

std::string watched_metric(const Json& lr_schedule) {
    return lr_schedule.at("type") == kPlateauSchedule.name
               ? lr_schedule.at("metric").get<std::string>()
               : std::string();
}

Plateau after_evaluation(const Json& lr_schedule, Plateau now, double value) {
    const auto delta = lr_schedule.at("min_delta").get<double>();
    const bool better = !now.best                         ? !std::isnan(value)
                        : lr_schedule.at("mode") == "min" ? value < *now.best - delta
                                                          : value > *now.best + delta;
    now.best = better ? value : now.best;
    now.bad = better ? 0 : now.bad + 1;
    if (now.cooling > 0) {
        --now.cooling;
        now.bad = 0;
    }
    if (now.bad > lr_schedule.at("patience").get<std::int64_t>()) {
        now.factor = std::max(now.factor * lr_schedule.at("factor").get<double>(),
                              lr_schedule.at("end_factor").get<double>());
        now.cooling = lr_schedule.at("cooldown").get<std::int64_t>();
        now.bad = 0;
    }
    return now;
}

} // namespace weft::optim
