// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/schedule_edit.h"

#include "core/optim/plateau.h"
#include "core/optim/schedule.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::ui {
namespace {

using config::Json;
using HandleKind = ScheduleHandle::Kind;

constexpr int kPoints = 480;            // of the curve; corners come besides
constexpr double kSharesOfRun = 200;    // warm-up and decay move in such parts of the run
constexpr double kLargestFactor = 1000; // of the engine's fields

class ScheduleEditText {
    Q_DECLARE_TR_FUNCTIONS(ScheduleEdit)
};

std::int64_t total(std::int64_t steps, bool endless) {
    return endless ? std::numeric_limits<std::int64_t>::max() / 2 : steps; // as the engine does
}

double factor(const Json& schedule, const char* name, double otherwise) {
    return schedule.contains(name) ? schedule.at(name).get<double>() : otherwise;
}

std::int64_t decaySteps(const Json& schedule, std::int64_t steps) {
    const Json& given = schedule.at("decay_steps");
    return given.is_null() ? steps / 5 : given.get<std::int64_t>();
}

double baseRate(const compile::RunConfig& config) {
    return config.section("optimizer").at("learning_rate").get<double>();
}

/// 1, 2 or 5 times a power of ten that is not above `value`.
double roundStep(double value) {
    const double power = std::pow(10.0, std::floor(std::log10(std::max(1.0, value))));
    const double lead = value / power;
    return power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
}

/// With two significant digits.
double roundedRate(double rate) {
    return QString::number(rate, 'g', 2).toDouble();
}

double roundedFactor(double value) {
    const double clamped = std::clamp(value, 0.0, kLargestFactor);
    return clamped < 1e-3 ? 0.0 : QString::number(clamped, 'g', 2).toDouble();
}

std::int64_t roundedSteps(double x, std::int64_t steps, std::int64_t most) {
    const double unit = roundStep(static_cast<double>(steps) / kSharesOfRun);
    return std::clamp<std::int64_t>(std::llround(std::round(x / unit) * unit), 0, most);
}

} // namespace

ScheduleCurve scheduleCurve(const compile::RunConfig& config, std::int64_t steps, bool endless) {
    ScheduleCurve out;
    out.steps = steps;
    if (steps < 1) {
        return out;
    }
    const Json& schedule = config.section("lr_schedule");
    const double base = baseRate(config);
    const bool has_warmup = schedule.contains("warmup_steps");
    const std::int64_t warmup = optim::warmup_steps(schedule, total(steps, endless));
    std::vector<std::int64_t> counts;
    for (int i = 0; i <= kPoints; ++i) {
        counts.push_back(steps * i / kPoints);
    }
    counts.push_back(std::min(warmup, steps));
    if (schedule.contains("decay_steps") && !endless) {
        counts.push_back(std::max<std::int64_t>(0, steps - decaySteps(schedule, steps)));
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    for (const std::int64_t count : counts) {
        out.x.push_back(static_cast<double>(count));
        out.y.push_back(base * optim::schedule_factor(schedule, count, total(steps, endless)));
    }
    if (schedule.contains("factors")) {
        return out; // whose points are settings of their own
    }
    const double start = factor(schedule, "start_factor", 1.0);
    if (has_warmup) {
        out.handles.push_back(
            {HandleKind::Start, 0, base * start, false, true, ScheduleEditText::tr("start")});
        out.handles.push_back({HandleKind::Peak, static_cast<double>(warmup), base, true, true,
                               ScheduleEditText::tr("warm-up ends")});
    } else {
        out.handles.push_back(
            {HandleKind::Peak, 0, base * start, false, true, ScheduleEditText::tr("start")});
    }
    if (schedule.contains("decay_steps") && !endless) {
        out.handles.push_back({HandleKind::DecayStart,
                               static_cast<double>(steps - decaySteps(schedule, steps)), base, true,
                               false, ScheduleEditText::tr("decay begins")});
    }
    // Where evaluations decide it is the least that they may lead to, not where the curve ends.
    const bool decided = !optim::watched_metric(schedule).empty();
    if (schedule.contains("end_factor") && !endless && !decided) {
        out.handles.push_back({HandleKind::End, static_cast<double>(steps),
                               base * factor(schedule, "end_factor", 0.0), false, true,
                               ScheduleEditText::tr("end")});
    }
    return out;
}

double learningRate(const compile::RunConfig& config, std::int64_t number, std::int64_t steps,
                    bool endless) {
    return baseRate(config) *
           optim::schedule_factor(config.section("lr_schedule"), number - 1, total(steps, endless));
}

std::vector<FieldEdit> moveHandle(const compile::RunConfig& config, std::int64_t steps,
                                  const ScheduleHandle& handle, double x, double y) {
    const Json& schedule = config.section("lr_schedule");
    const double base = baseRate(config);
    std::vector<FieldEdit> edits;
    const std::int64_t warmup = optim::warmup_steps(schedule, steps);
    const std::int64_t decay =
        schedule.contains("decay_steps") ? decaySteps(schedule, steps) : std::int64_t{0};
    switch (handle.kind) {
    case HandleKind::Start:
        edits.push_back({"/lr_schedule/start_factor", roundedFactor(y / base)});
        break;
    case HandleKind::Peak: {
        if (handle.moves_x) {
            const std::int64_t most = std::max<std::int64_t>(0, steps - 1 - decay);
            edits.push_back({"/lr_schedule/warmup_steps", roundedSteps(x, steps, most)});
        }
        // A straight line starts at start_factor times the rate.
        const double start = handle.moves_x ? 1.0 : factor(schedule, "start_factor", 1.0);
        const double rate = roundedRate(start > 0 ? y / start : base);
        if (rate > 0) {
            edits.push_back({"/optimizer/learning_rate", rate});
        }
        break;
    }
    case HandleKind::DecayStart:
        edits.push_back({"/lr_schedule/decay_steps",
                         roundedSteps(static_cast<double>(steps) - x, steps, steps - warmup)});
        break;
    case HandleKind::End:
        edits.push_back({"/lr_schedule/end_factor", roundedFactor(y / base)});
        break;
    }
    return edits;
}

} // namespace weft::ui
