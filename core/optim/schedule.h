// SPDX-License-Identifier: Apache-2.0
// Learning-rate schedules: a factor of the base rate as a function of the number of updates done
// before (Optax's convention: the count before increment).
#pragma once

#include "core/config/field.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace weft::optim {

/// Where an update stands in its run.
struct SchedulePoint {
    std::int64_t count = 0; // updates done before this one; one more in one-based recipes
    std::int64_t total = 1; // updates in the run
};

struct ScheduleDef {
    std::string_view name;
    std::string_view help;
    /// Settings besides step_convention.
    config::FieldTable (*fields)();
    double (*factor)(const config::Json& settings, const SchedulePoint& point);
};

extern const ScheduleDef kConstantSchedule;
extern const ScheduleDef kLinearSchedule;
extern const ScheduleDef kCosineSchedule;
extern const ScheduleDef kWarmupConstantSchedule;
extern const ScheduleDef kWarmupLinearSchedule;
extern const ScheduleDef kWarmupCosineSchedule;
extern const ScheduleDef kWarmupStableDecaySchedule;
extern const ScheduleDef kWarmupInverseRootSchedule;
extern const ScheduleDef kPolynomialSchedule;
extern const ScheduleDef kExponentialSchedule;
extern const ScheduleDef kStepSchedule;
extern const ScheduleDef kCosineRestartsSchedule;
extern const ScheduleDef kCyclicSchedule;
extern const ScheduleDef kOneCycleSchedule;
extern const ScheduleDef kPointsSchedule;
extern const ScheduleDef kPlateauSchedule; // plateau.h

/// Every schedule. To add one: a record in schedule.cpp, a declaration above, a line here, a row in
/// tests/optim.
inline constexpr std::array kSchedules = {
    &kConstantSchedule,
    &kLinearSchedule,
    &kCosineSchedule,
    &kWarmupConstantSchedule,
    &kWarmupLinearSchedule,
    &kWarmupCosineSchedule,
    &kWarmupStableDecaySchedule,
    &kWarmupInverseRootSchedule,
    &kPolynomialSchedule,
    &kExponentialSchedule,
    &kStepSchedule,
    &kCosineRestartsSchedule,
    &kCyclicSchedule,
    &kOneCycleSchedule,
    &kPointsSchedule,
    &kPlateauSchedule,
};

const ScheduleDef* find_schedule(std::string_view name);

/// The "lr_schedule" setting.
config::Field schedule_field();

/// Updates of the warm-up in a run of `total`; 0 where the schedule has none.
std::int64_t warmup_steps(const config::Json& lr_schedule, std::int64_t total);

/// Factor for the update with `count` updates done before it, of `total`; past the end it stays.
double schedule_factor(const config::Json& lr_schedule, std::int64_t count, std::int64_t total);

/// The settings of a schedule against each other, and against a run of `total` updates; 0: nobody
/// knows yet how many.
void check_schedule(const config::Json& lr_schedule, std::int64_t total, const std::string& pointer,
                    config::Diagnostics& out);

} // namespace weft::optim
