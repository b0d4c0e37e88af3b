// SPDX-License-Identifier: Apache-2.0
// A run on the console: one live line with a bar and the time left on a terminal, plain lines
// elsewhere. Evaluations, checkpoints and the end get lines of their own; warnings, errors and how
// far big data are read go to stderr.
#pragma once

#include "app/cli/opening_line.h"
#include "core/base/clock.h"
#include "core/train/record/event.h"

#include <string>
#include <vector>

namespace weft::cli {

class ProgressView {
public:
    /// `log_every` thins plain lines: steps between two.
    ProgressView(const Context& context, std::int64_t log_every);
    /// Not thread-safe: one call at a time.
    void show(const train::Event& event);

private:
    void show(const train::StateEvent& event);
    void show(const train::StepEvent& event);
    void show(const train::RecordingEvent& event);
    void show(const train::DivergenceEvent& event);
    void show(const train::SettingsEvent& event);
    void show_numbers(std::int64_t step, const train::Metrics& metrics);
    void show_step();
    void show_loading();
    std::vector<std::string> step_parts() const;
    void print_line(const std::string& text);
    void clear_live_line();
    std::string time_left() const;

    const bool live_;
    const bool colour_;
    const int columns_;
    std::int64_t log_every_;
    SystemClock clock_;
    OpeningLine opening_;
    train::StepEvent last_;
    train::LoaderEvent loading_; // of all of the run so far
    std::int64_t total_steps_ = 0;
    std::int64_t first_step_ = -1;
    double first_step_s_ = 0;
    double last_shown_s_ = 0;
    bool line_is_open_ = false;
};

} // namespace weft::cli
