// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/perf/studio/open_studio.h"

#include "tests/perf/studio/figures.h"

#include <QTest>

#include <cmath>
#include <cstdio>
#include <fstream>

namespace bench {

using namespace weft;

OpenStudio::OpenStudio()
    : studio_({root() / "runs", WEFT_SOURCE_PRESETS, root() / "state", {}, WEFT_PROGRAM}),
      window_(studio_, theme_) {
    window_.resize(1440, 900);
    window_.show();
    studio_.index().refresh();
    if (!QTest::qWaitForWindowExposed(&window_)) {
        std::puts("the window never appeared");
    }
}

std::filesystem::path OpenStudio::preset(const char* name) {
    return std::filesystem::path(WEFT_SOURCE_PRESETS) / name;
}

std::filesystem::path make_long_run(const std::filesystem::path& folder, std::int64_t steps) {
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(OpenStudio::preset("fashion-mlp.json"), folder / "config.json");
    std::ofstream log(folder / "events.jsonl");
    train::Event event{1, 1000, train::StateEvent{train::RunState::running, {}, {}, 0, steps}};
    log << to_line(event) << '\n';
    for (std::int64_t i = 1; i <= steps; ++i) {
        train::StepEvent step;
        step.step = i;
        step.epoch = static_cast<double>(i) / 1000;
        step.loss =
            2.3 / std::sqrt(1.0 + static_cast<double>(i) / 500) + 0.05 * std::sin(i * 12.9898);
        step.learning_rate = 1e-3;
        step.grad_norm = 1 + 0.5 * std::sin(i * 78.233);
        event = {event.seq + 1, 1000 + static_cast<double>(i) * 0.01, step};
        log << to_line(event) << '\n';
        if (i % 1000 == 0) {
            event = {event.seq + 1, event.time,
                     train::EvaluationEvent{i, {{"validation/loss", step.loss + 0.1}}}};
            log << to_line(event) << '\n';
        }
    }
    event = {event.seq + 1, event.time,
             train::StateEvent{train::RunState::finished, {}, {}, 0, steps}};
    log << to_line(event) << '\n';
    return folder;
}

bool start_preset(OpenStudio& open, const char* name) {
    const ui::StartResult started = open.studio().control().startFile(OpenStudio::preset(name));
    if (!started.started) {
        std::printf("not started: %s\n", qPrintable(started.problem));
        return false;
    }
    return wait_for("the first step", [&] { return open.studio().run().step() > 0; });
}

void stop_training(OpenStudio& open) {
    if (open.studio().isTraining()) {
        open.studio().control().stopNow();
        wait_for("the end of training", [&] { return !open.studio().isTraining(); });
    }
}

} // namespace bench
