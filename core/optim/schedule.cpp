// SPDX-License-Identifier: Apache-2.0
#include "core/optim/schedule.h"

#include "core/base/check.h"

#include <algorithm>
#include <cmath>
#include <functional>
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

/// Of `period` updates, or of a share of the run.
std::int64_t period_of(const Json& settings, const char* name, std::int64_t total,
                       std::int64_t share) {
    const Json& steps = settings.at(name);
    return std::max<std::int64_t>(1, steps.is_null() ? total / share : steps.get<std::int64_t>());
}

config::Field period_field(const char* name, const char* help) {
    return config::integer_field(name, nullptr, help).or_null().at_least(1).in("steps");
}

config::FieldTable polynomial_fields() {
    return {config::real_field("power", 2.0,
                               "Exponent of the share of the run that is left; 1 is a "
                               "straight line.")
                .range(0.01, 100.0),
            end_factor(0.0)};
}

double polynomial_factor(const Json& settings, const SchedulePoint& at) {
    const double end = real(settings, "end_factor");
    return (1.0 - end) * std::pow(line(1.0, 0.0, at.count, at.total), real(settings, "power")) +
           end;
}

config::FieldTable exponential_fields() {
    return {config::real_field("end_factor", 0.01, "Factor of learning_rate at the end.")
                .range(1e-12, 1000.0)};
}

double exponential_factor(const Json& settings, const SchedulePoint& at) {
    return std::pow(real(settings, "end_factor"), line(0.0, 1.0, at.count, at.total));
}

config::FieldTable step_fields() {
    return {period_field("every", "Updates from one step down to the next; null: a third of the "
                                  "run."),
            config::real_field("gamma", 0.1, "What the rate is multiplied by at each.")
                .range(1e-6, 1.0)};
}

double step_factor(const Json& settings, const SchedulePoint& at) {
    const std::int64_t every = period_of(settings, "every", at.total, 3);
    return std::pow(real(settings, "gamma"), static_cast<double>(at.count / every));
}

double inverse_root_factor(const Json& settings, const SchedulePoint& at) {
    const std::int64_t warmup = std::max<std::int64_t>(1, warmup_steps(settings, at.total));
    return at.count < warmup
               ? warmup_factor(settings, at)
               : std::sqrt(static_cast<double>(warmup) / static_cast<double>(at.count));
}

config::FieldTable restarts_fields() {
    return {period_field("period", "Updates of the first fall; null: a quarter of the run."),
            config::real_field("growth", 1.0, "How much longer each fall is than the one before.")
                .range(1.0, 100.0),
            end_factor(0.0)};
}

double restarts_factor(const Json& settings, const SchedulePoint& at) {
    std::int64_t count = std::min(at.count, at.total);
    const bool over = at.count >= at.total; // then a fall that ends there stays
    auto period = static_cast<double>(period_of(settings, "period", at.total, 4));
    while (count > std::llround(period) || (count == std::llround(period) && !over)) {
        count -= std::llround(period);
        period *= real(settings, "growth");
    }
    return half_cosine(real(settings, "end_factor"), count, std::llround(period));
}

config::FieldTable cyclic_fields() {
    return {period_field("period", "Updates of a rise and a fall; null: a tenth of the run."),
            start_factor(0.1)};
}

double cyclic_factor(const Json& settings, const SchedulePoint& at) {
    const std::int64_t period = period_of(settings, "period", at.total, 10);
    const double turn = static_cast<double>(at.count % period) / static_cast<double>(period);
    const double start = real(settings, "start_factor");
    return start + (1.0 - start) * (1.0 - std::abs(2.0 * turn - 1.0));
}

config::FieldTable one_cycle_fields() {
    return {config::real_field("rise", 0.3, "Share of the run in which the rate rises.")
                .range(0.0, 1.0),
            start_factor(0.04), end_factor(4e-6)};
}

double one_cycle_factor(const Json& settings, const SchedulePoint& at) {
    const double start = real(settings, "start_factor");
    const auto rise =
        static_cast<std::int64_t>(real(settings, "rise") * static_cast<double>(at.total));
    return at.count < rise
               ? start + 1.0 - half_cosine(start, at.count, rise)
               : half_cosine(real(settings, "end_factor"), at.count - rise, at.total - rise);
}

config::FieldTable points_fields() {
    return {config::list_field("at", Json::array({0.0, 0.1, 1.0}),
                               config::real_field("share", nullptr, "Share of the run.")
                                   .must_be_given()
                                   .range(0.0, 1.0),
                               "Shares of the run, from the first to the last, at which the factor "
                               "is given; between them it goes straight."),
            config::list_field("factors", Json::array({0.0, 1.0, 0.0}),
                               config::real_field("factor", nullptr, "Factor of learning_rate.")
                                   .must_be_given()
                                   .range(0.0, 1000.0),
                               "The factor at each of them.")};
}

double points_factor(const Json& settings, const SchedulePoint& at) {
    const auto shares = settings.at("at").get<std::vector<double>>();
    const auto factors = settings.at("factors").get<std::vector<double>>();
    const double share = line(0.0, 1.0, at.count, at.total);
    const auto next = static_cast<std::size_t>(
        std::upper_bound(shares.begin(), shares.end(), share) - shares.begin());
    if (next == 0 || next == shares.size()) {
        return next == 0 ? factors.front() : factors.back();
    }
    const double into = (share - shares[next - 1]) / (shares[next] - shares[next - 1]);
    return factors[next - 1] + into * (factors[next] - factors[next - 1]);
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
// Vaswani et al. 2017, section 5.3
const ScheduleDef kWarmupInverseRootSchedule = {
    "warmup_inverse_root", "A rise, then as one over the root of the updates done.",
    warmup_constant_fields, inverse_root_factor};
const ScheduleDef kPolynomialSchedule = {"polynomial",
                                         "A power of the share of the run that is left.",
                                         polynomial_fields, polynomial_factor};
const ScheduleDef kExponentialSchedule = {"exponential", "Falls by the same share at every update.",
                                          exponential_fields, exponential_factor};
const ScheduleDef kStepSchedule = {"step", "Falls at once, every so many updates.", step_fields,
                                   step_factor};
// SGDR, Loshchilov and Hutter 2017
const ScheduleDef kCosineRestartsSchedule = {"cosine_restarts",
                                             "Half a cosine again and again, from 1 each time.",
                                             restarts_fields, restarts_factor};
// Smith 2017, triangular
const ScheduleDef kCyclicSchedule = {"cyclic", "Up to 1 and back again and again, straight.",
                                     cyclic_fields, cyclic_factor};
// Smith and Topin 2019; along cosines, as PyTorch does by default
const ScheduleDef kOneCycleSchedule = {
    "one_cycle", "Half a cosine up to 1, then half a cosine down to almost nothing.",
    one_cycle_fields, one_cycle_factor};
const ScheduleDef kPointsSchedule = {"points", "Straight lines between points of one's own.",
                                     points_fields, points_factor};

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
    if (lr_schedule.at("type") == "points") {
        const auto shares = lr_schedule.at("at").get<std::vector<double>>();
        if (shares.empty() || lr_schedule.at("factors").size() != shares.size()) {
            out.push_back({pointer + "/factors", config::Severity::error,
                           "there are " + std::to_string(lr_schedule.at("factors").size()) +
                               " factors for " + std::to_string(shares.size()) + " points",
                           "Give one factor for each share in at, and one of them at least."});
        } else if (std::adjacent_find(shares.begin(), shares.end(), std::greater_equal<>()) !=
                   shares.end()) {
            out.push_back({pointer + "/at", config::Severity::error,
                           "each share must be larger than the one before", "Sort them."});
        }
    }
    if (total <= 0) {
        return;
    }
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
