// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/learning/run_session.h"

#include "core/train/record/run_folder.h"

#include <limits>

namespace weft::test {
namespace {

double metric_of(const train::EvaluationEvent& evaluation, const std::string& name) {
    for (const auto& [metric, value] : evaluation.metrics) {
        if (metric == name) {
            return value;
        }
    }
    return std::numeric_limits<double>::quiet_NaN();
}

} // namespace

std::vector<double> SessionRun::losses() const {
    std::vector<double> values;
    for (const train::StepEvent& step : steps) {
        values.push_back(step.loss);
    }
    return values;
}

double SessionRun::first_metric(const std::string& name) const {
    return evaluations.empty() ? std::numeric_limits<double>::quiet_NaN()
                               : metric_of(evaluations.front(), name);
}

double SessionRun::last_metric(const std::string& name) const {
    return evaluations.empty() ? std::numeric_limits<double>::quiet_NaN()
                               : metric_of(evaluations.back(), name);
}

SessionRun run_session(const config::Json& config, const std::filesystem::path& root,
                       std::optional<std::int64_t> max_steps) {
    SessionRun run;
    const compile::CheckedRun checked = compile::read_run_config(config, root);
    if (!checked.ok()) {
        for (const config::Diagnostic& diagnostic : checked.diagnostics) {
            run.problem += config::to_text(diagnostic) + "\n";
        }
        return run;
    }
    train::SessionOptions options;
    options.config = checked.config;
    options.run_folder = train::create_run_folder(root / "runs", checked.config.name);
    options.max_steps = max_steps;
    options.sink = [&run](const train::Event& event) {
        if (const auto* step = std::get_if<train::StepEvent>(&event.payload)) {
            run.steps.push_back(*step);
        } else if (const auto* evaluation = std::get_if<train::EvaluationEvent>(&event.payload)) {
            run.evaluations.push_back(*evaluation);
        } else if (const auto* error = std::get_if<train::ErrorEvent>(&event.payload)) {
            run.problem += error->where + ": " + error->message + "\n";
        }
    };
    train::Session session(std::move(options));
    run.result = session.run();
    return run;
}

} // namespace weft::test
