// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/curve_metric.h"

#include "core/compile/config/metric_facts.h"
#include "ui/bridge/convert.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <string_view>

namespace weft::ui {
namespace {

class CurveMetricText {
    Q_DECLARE_TR_FUNCTIONS(CurveMetric)
};

struct FixedColumn {
    const char* name;
    std::vector<double> StepSeries::*column;
};

constexpr std::array kCurveMetricFixedColumns = {
    FixedColumn{"train/loss", &StepSeries::loss},
    FixedColumn{"train/learning_rate", &StepSeries::learning_rate},
    FixedColumn{"train/grad_norm", &StepSeries::grad_norm},
    FixedColumn{"train/samples_per_s", &StepSeries::samples_per_s},
    FixedColumn{"train/step_ms", &StepSeries::step_ms},
    FixedColumn{"train/memory_bytes", &StepSeries::memory_bytes},
};

std::vector<CurveMetric> fixedMetrics() {
    return {
        {"loss", CurveMetricText::tr("Loss"), "train/loss", "validation/loss", true},
        {"learning_rate", CurveMetricText::tr("Learning rate"), "train/learning_rate", {}, false},
        {"grad_norm", CurveMetricText::tr("Gradient norm"), "train/grad_norm", {}, true},
        {"accuracy", CurveMetricText::tr("Accuracy"), "train/accuracy", "validation/accuracy",
         true},
        {"samples_per_s",
         CurveMetricText::tr("Samples per second"),
         "train/samples_per_s",
         {},
         true},
        {"step_ms", CurveMetricText::tr("Milliseconds per step"), "train/step_ms", {}, true},
        {"memory_mib", CurveMetricText::tr("Memory in MiB"), "train/memory_bytes", {}, true},
    };
}

constexpr std::string_view kSystem = "system/";

bool isOfSystem(std::string_view name) {
    return name.starts_with(kSystem);
}

/// "validation/top5_accuracy" -> "top5_accuracy"
std::string base_name(const std::string& name) {
    return isOfSystem(name) ? name : name.substr(name.find('/') + 1);
}

/// What the machine did while the run trained; amounts of bytes in MiB.
CurveMetric ofSystem(const std::string& name) {
    QString title = toQString(name.substr(kSystem.size()));
    title.replace("_bytes_per_s", CurveMetricText::tr(" in MiB per second"));
    title.replace("_bytes", CurveMetricText::tr(" in MiB"));
    title.replace("_percent", CurveMetricText::tr(" in %"));
    title.replace("_temperature_c", CurveMetricText::tr(" temperature in °C"));
    title.replace("_power_w", CurveMetricText::tr(" power in W"));
    title.replace('_', ' ');
    title.replace("cpu", CurveMetricText::tr("processor"));
    title.replace("gpu", CurveMetricText::tr("GPU "));
    title[0] = title[0].toUpper();
    return {toQString(name), title, name, {}, false};
}

CurveMetric made(const std::string& base) {
    if (isOfSystem(base)) {
        return ofSystem(base);
    }
    QString title = toQString(base);
    title.replace('_', ' ');
    if (!title.isEmpty()) {
        title[0] = title[0].toUpper();
    }
    return {toQString(base), title, "train/" + base, "validation/" + base, true};
}

const std::vector<double>* fixedColumn(const StepSeries& steps, const std::string& name) {
    const auto found =
        std::find_if(kCurveMetricFixedColumns.begin(), kCurveMetricFixedColumns.end(),
                     [&](const FixedColumn& fixed) { return name == fixed.name; });
    return found == kCurveMetricFixedColumns.end() ? nullptr : &(steps.*(found->column));
}

const MetricColumn* saidColumn(const StepSeries& steps, const std::string& name) {
    const auto found = std::find_if(steps.metrics.begin(), steps.metrics.end(),
                                    [&](const MetricColumn& c) { return c.name == name; });
    return found == steps.metrics.end() ? nullptr : &*found;
}

const std::vector<double>& xColumn(const StepSeries& steps, XAxis axis) {
    switch (axis) {
    case XAxis::Epoch: return steps.epoch;
    case XAxis::Seconds: return steps.seconds;
    case XAxis::Wall: return steps.wall;
    case XAxis::Step:
    case XAxis::RelativeStep: break;
    }
    return steps.step;
}

double xOfPoint(const EvaluationPoint& point, XAxis axis, double base) {
    return axis == XAxis::Epoch          ? point.epoch
           : axis == XAxis::Seconds      ? point.seconds
           : axis == XAxis::Wall         ? point.wall
           : axis == XAxis::RelativeStep ? point.step - base
                                         : point.step;
}

double scaleOf(const CurveMetric& metric) {
    const bool bytes = metric.id == QLatin1String("memory_mib") ||
                       (isOfSystem(metric.step_metric) && metric.id.contains("_bytes"));
    return bytes ? 1.0 / (1 << 20) : 1.0;
}

} // namespace

// Of runs of other programs it is not known what they are configured to.
bool isConfigured(const RunModel& run) {
    return !run.isEmpty() && run.config().document.is_object();
}

bool says(const RunModel& run, const CurveMetric& metric) {
    const auto& steps = run.steps();
    if (!isConfigured(run) || fixedColumn(steps, metric.step_metric) != nullptr ||
        saidColumn(steps, metric.step_metric) != nullptr ||
        run.lastMetric(metric.evaluation_metric)) {
        return true;
    }
    const config::Json& configured = run.config().section("metrics");
    return std::any_of(configured.begin(), configured.end(),
                       [&](const config::Json& name) { return name == metric.id.toStdString(); });
}

bool hasClasses(const RunModel& run) {
    return !isConfigured(run) || compile::predicts_classes(run.config());
}

std::vector<CurveMetric> curveMetrics(const RunModel& run) {
    std::vector<CurveMetric> metrics = fixedMetrics();
    std::erase_if(metrics, [&](const CurveMetric& metric) { return !says(run, metric); });
    const auto add = [&](const std::string& name) {
        const QString id = toQString(base_name(name));
        const bool known = std::any_of(metrics.begin(), metrics.end(),
                                       [&](const CurveMetric& metric) { return metric.id == id; });
        if (!known) {
            metrics.push_back(made(base_name(name)));
        }
    };
    for (const MetricColumn& column : run.steps().metrics) {
        add(column.name);
    }
    if (!run.evaluations().empty()) {
        for (const auto& [name, value] : run.evaluations().back().metrics) {
            add(name);
        }
    }
    return metrics;
}

CurveMetric curveMetric(const RunModel& run, const QString& id) {
    for (CurveMetric& metric : curveMetrics(run)) {
        if (metric.id == id) {
            return std::move(metric);
        }
    }
    return made(id.toStdString());
}

std::size_t pointCount(const StepSeries& steps, const CurveMetric& metric) {
    if (const auto* column = fixedColumn(steps, metric.step_metric)) {
        return column->size();
    }
    const MetricColumn* said = saidColumn(steps, metric.step_metric);
    return said == nullptr ? 0 : said->value.size();
}

void readPoints(const StepSeries& steps, const CurveMetric& metric, XAxis axis, double base_step,
                std::size_t first, std::size_t count, double until, std::vector<double>& x,
                std::vector<double>& y) {
    x.clear();
    y.clear();
    const std::vector<double>* fixed = fixedColumn(steps, metric.step_metric);
    const MetricColumn* said = fixed ? nullptr : saidColumn(steps, metric.step_metric);
    if (fixed == nullptr && said == nullptr) {
        return;
    }
    const std::vector<double>& at = xColumn(steps, axis);
    const double shift = axis == XAxis::RelativeStep ? base_step : 0.0;
    const double scale = scaleOf(metric);
    x.reserve(count);
    y.reserve(count);
    for (std::size_t i = first; i < first + count; ++i) {
        const std::size_t row = fixed ? i : said->row[i];
        if (steps.step[row] > until) {
            return;
        }
        x.push_back(at[row] - shift);
        y.push_back((fixed ? (*fixed)[i] : said->value[i]) * scale);
    }
}

void readEvaluations(const RunModel& run, const CurveMetric& metric, XAxis axis, double until,
                     std::vector<double>& x, std::vector<double>& y) {
    x.clear();
    y.clear();
    const double base = baseStep(run);
    for (const EvaluationPoint& point : run.evaluations()) {
        if (point.step > until) {
            return;
        }
        for (const auto& [name, value] : point.metrics) {
            if (name == metric.evaluation_metric) {
                x.push_back(xOfPoint(point, axis, base));
                y.push_back(value);
            }
        }
    }
}

double baseStep(const RunModel& run) {
    return run.origin() ? run.origin()->step : 0.0;
}

std::optional<double> xOfEvaluation(const RunModel& run, XAxis axis, double step) {
    const auto& points = run.evaluations();
    const auto found =
        std::find_if(points.begin(), points.end(),
                     [step](const EvaluationPoint& one) { return one.step == step; });
    return found == points.end() ? std::nullopt
                                 : std::optional(xOfPoint(*found, axis, baseStep(run)));
}

std::optional<double> xOfStep(const RunModel& run, XAxis axis, double step) {
    if (axis == XAxis::Step) {
        return step;
    }
    if (axis == XAxis::RelativeStep) {
        return step - baseStep(run);
    }
    const std::vector<double>& steps = run.steps().step;
    if (step <= 0 && axis != XAxis::Wall) {
        return step;
    }
    const auto found = std::lower_bound(steps.begin(), steps.end(), step);
    if (found == steps.end()) {
        return std::nullopt;
    }
    return xColumn(run.steps(), axis)[static_cast<std::size_t>(found - steps.begin())];
}

} // namespace weft::ui
