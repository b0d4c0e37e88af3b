// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/run_log.h"

#include "core/train/record/run_folder.h"

#include <fstream>

namespace weft::test {

RunLog::RunLog(std::filesystem::path folder, const std::string& config)
    : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "config.json") << config;
    std::ofstream(folder_ / "events.jsonl");
    train::RunInfo info;
    info.id = info.name = folder_.filename().string();
    info.state = "finished";
    train::write_run_info(folder_, info);
    train::StateEvent running;
    running.state = train::RunState::running;
    running.total_steps = 100000;
    add(running);
}

RunLog& RunLog::add(train::Payload payload) {
    time_ += 0.01;
    std::ofstream(folder_ / "events.jsonl", std::ios::app)
        << train::to_line({++seq_, time_, std::move(payload)}) << '\n';
    return *this;
}

RunLog& RunLog::steps(std::int64_t first, std::int64_t last, double loss) {
    for (std::int64_t i = first; i <= last; ++i) {
        train::StepEvent step;
        step.step = i;
        step.epoch = static_cast<double>(i) / 10;
        step.loss = loss;
        step.learning_rate = 1e-3;
        step.grad_norm = 1;
        step.metrics = {{"train/accuracy", 0.5}};
        add(step);
        if (i % 10 == 0) {
            add(train::EvaluationEvent{i, {{"validation/loss", loss}}});
        }
    }
    return *this;
}

} // namespace weft::test
