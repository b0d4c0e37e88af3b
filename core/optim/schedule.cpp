// SPDX-License-Identifier: Apache-2.0
#include "core/optim/schedule.h"

#include "core/base/check.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::optim {
namespace {

using config::Json;

config::Field start_factor(double value) {
    return config::real_field("start_factor", value, "Factor of learning_rate at the start.")
        .range(0.0, 1000.0);
}

config::Field end_factor(double value) {
    return config::real_field("end_factor", value, "Factor of learning_rate at the end.")
        .range(0.0, 1000.0);
}

config::Field warmup_field() {
    return config::integer_field("warmup_steps", nullptr,
                                 "Updates over which the rate rises from start_factor to 1; null: "
                                 "100, but at most a tenth of the run. The total includes them.")
        .or_null()
        .at_least(0)
        .in("steps");
}

double real(const Json& settings, const char* name) {
    return settings.at(name).get<double>();
}

/// From `start` at 0 to `end` at `steps`, constant after.
double line(double start, double end, std::int64_t count, std::int64_t steps) {
    if (steps <= 0 || count >= steps) {
        return end;
    }
    return start + (end - start) * static_cast<double>(count) / static_cast<double>(steps);
}

/// From 1 at 0 to `end` at `steps` along half a cosine.
double half_cosine(double end, std::int64_t count, std::int64_t steps) {
    if (steps <= 0 || count >= steps) {
        return end;
    }
    const double turn =
        std::numbers::pi * static_cast<double>(count) / static_cast<double>(steps);
    return (1.0 - end) * 0.5 * (1.0 + std::cos(turn)) + end;
}

config::FieldTable constant_fields() {
    return {};
}

double constant_factor(const Json&, const SchedulePoint&) {
    return 1.0;
}

config::FieldTable linear_fields() {
    return {start_factor(1.0), end_factor(0.0)};
}

double linear_factor(const Json& settings, const SchedulePoint& at) {
    return line(real(settings, "start_factor"), real(settings, "end_factor"), at.count, at.total);
}

config::FieldTable cosine_fields() {
    return {end_factor(0.0)};
}

double cosine_factor(const Json& settings, const SchedulePoint& at) {
    return half_cosine(real(settings, "end_factor"), at.count, at.total);
}

config::FieldTable warmup_constant_fields() {
    return {warmup_field(), start_factor(0.0)};
}

config::FieldTable warmup_decay_fields() {
    return {warmup_field(), start_factor(0.0), end_factor(0.0)};
}

double warmup_factor(const Json& settings, const SchedulePoint& at) {
    return line(real(settings, "start_factor"), 1.0, at.count, warmup_steps(settings, at.total));
}

double warmup_linear_factor(const Json& settings, const SchedulePoint& at) {
    const std::int64_t warmup = warmup_steps(settings, at.total);
    return at.count < warmup ? warmup_factor(settings, at)
                             : line(1.0, real(settings, "end_factor"), at.count - warmup,
                                    at.total - warmup);
}

double warmup_cosine_factor(const Json& settings, const SchedulePoint& at) {
    const std::int64_t warmup = warmup_steps(settings, at.total);
    return at.count < warmup
               ? warmup_factor(settings, at)
               : half_cosine(real(settings, "end_factor"), at.count - warmup, at.total - warmup);
}

config::FieldTable warmup_stable_decay_fields() {
    config::FieldTable fields = warmup_decay_fields();
    fields.insert(fields.begin() + 1,
                  config::integer_field("decay_steps", nullptr,
                                        "Last updates, over which the rate falls to end_factor; "
                                        "null: a fifth of the run.")
                      .or_null()
                      .at_least(0)
                      .in("steps"));
    return fields;
}

std::int64_t decay_of(const Json& settings, std::int64_t total) {
    const Json& steps = settings.at("decay_steps");
    return steps.is_null() ? total / 5 : steps.get<std::int64_t>();
}

double warmup_stable_decay_factor(const Json& settings, const SchedulePoint& at) {
    if (at.count < warmup_steps(settings, at.total)) {
        return warmup_factor(settings, at);
    }
    const std::int64_t decay = decay_of(settings, at.total);
    const std::int64_t into = at.count - (at.total - decay);
    return into <= 0 && decay > 0 ? 1.0 : line(1.0, real(settings, "end_factor"), into, decay);
}

} // namespace

const ScheduleDef kConstantSchedule = {"constant", "The base rate throughout.", constant_fields,
                                       constant_factor};
const ScheduleDef kLinearSchedule = {"linear", "A straight line over the run.", linear_fields,
                                     linear_factor};
const ScheduleDef kCosineSchedule = {"cosine", "Half a cosine from 1 to end_factor.", cosine_fields,
                                     cosine_factor};
const ScheduleDef kWarmupConstantSchedule = {"warmup_constant", "A rise, then the base rate.",
                                             warmup_constant_fields, warmup_factor};
const ScheduleDef kWarmupLinearSchedule = {"warmup_linear", "A rise, then a straight line down.",
                                           warmup_decay_fields, warmup_linear_factor};
const ScheduleDef kWarmupCosineSchedule = {"warmup_cosine", "A rise, then half a cosine down.",
                                           warmup_decay_fields, warmup_cosine_factor};
const ScheduleDef kWarmupStableDecaySchedule = {
    "warmup_stable_decay", "A rise, the base rate, then a straight line down at the end.",
    warmup_stable_decay_fields, warmup_stable_decay_factor};

const ScheduleDef* find_schedule(std::string_view name) {
    const auto found = std::find_if(kSchedules.begin(), kSchedules.end(),
                                    [&](const ScheduleDef* def) { return def->name == name; });
    return found == kSchedules.end() ? nullptr : *found;
}

config::Field schedule_field() {
    std::vector<config::RecordType> records;
    for (const ScheduleDef* def : kSchedules) {
        config::FieldTable fields = def->fields();
        fields.push_back(config::choice_field("step_convention", "zero_based",
                                              {"zero_based", "one_based"},
                                              "Whether the first update reads the schedule at 0 "
                                              "or at 1.")
                             .for_experts());
        records.push_back({std::string(def->name), std::string(def->help), std::move(fields)});
    }
    return config::record_field("lr_schedule", Json{{"type", "warmup_cosine"}}, std::move(records),
                                "Factor of the learning rate over the run.");
}

std::int64_t warmup_steps(const Json& lr_schedule, std::int64_t total) {
    constexpr std::int64_t kUsual = 100;
    constexpr std::int64_t kLargestShare = 10;
    const auto steps = lr_schedule.find("warmup_steps");
    if (steps == lr_schedule.end()) {
        return 0;
    }
    return steps->is_null() ? std::min(kUsual, total / kLargestShare) : steps->get<std::int64_t>();
}

double schedule_factor(const Json& lr_schedule, std::int64_t count, std::int64_t total) {
    const ScheduleDef* def = find_schedule(lr_schedule.at("type").get<std::string>());
    WEFT_CHECK(def != nullptr, "the configuration was checked: schedule type");
    const bool one_based = lr_schedule.at("step_convention") == "one_based";
    return def->factor(lr_schedule, {count + (one_based ? 1 : 0), total});
}

void check_schedule(const Json& lr_schedule, std::int64_t total, const std::string& pointer,
                    config::Diagnostics& out) {
    const auto report = [&](const char* field, const std::string& message) {
        out.push_back({pointer + "/" + field, config::Severity::error, message,
                       "Make it shorter, or the run longer (training.length)."});
    };
    const std::string run = "the run of " + std::to_string(total) + " steps";
    const std::int64_t warmup = warmup_steps(lr_schedule, total);
    if (warmup > 0 && warmup >= total) {
        report("warmup_steps", "a warm-up of " + std::to_string(warmup) + " steps fills " + run);
    } else if (lr_schedule.contains("decay_steps") &&
               warmup + decay_of(lr_schedule, total) > total) {
        report("decay_steps", "warm-up and decay of " + std::to_string(warmup) + " + " +
                                  std::to_string(decay_of(lr_schedule, total)) +
                                  " steps do not fit into " + run);
    }
}

} // namespace weft::optim
