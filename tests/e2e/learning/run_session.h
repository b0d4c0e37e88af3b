// SPDX-License-Identifier: Apache-2.0
// Runs a whole session in this process and keeps what it said.
#pragma once

#include "core/train/session.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weft::test {

struct SessionRun {
    train::SessionResult result;
    std::vector<train::StepEvent> steps;
    std::vector<train::EvaluationEvent> evaluations;
    std::string problem; // diagnostics or the error event

    std::vector<double> losses() const;
    /// Value of a metric in the first or last evaluation; NaN when it is not there.
    double first_metric(const std::string& name) const;
    double last_metric(const std::string& name) const;
};

/// `config` is a whole document; the run folder is made under `root`.
SessionRun run_session(const config::Json& config, const std::filesystem::path& root,
                       std::optional<std::int64_t> max_steps = std::nullopt);

} // namespace weft::test
