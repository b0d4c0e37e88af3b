// SPDX-License-Identifier: Apache-2.0
#include "core/train/update.h"

#include "core/base/check.h"
#include "core/optim/groups.h"
#include "core/train/program_io.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::train {
namespace {

constexpr const char* kUpdateProgram = "train_step";
constexpr std::array kOwnNames = {"loss", "grad_norm", "finite", "loss_scale", "skipped"};

} // namespace

UpdateScalars::UpdateScalars(const compile::RunConfig& config, std::int64_t schedule_steps,
                             std::vector<std::int64_t> moments_since)
    : schedule_steps_(schedule_steps), rates_(compile::learning_rates(config)),
      moments_since_(std::move(moments_since)) {
    const std::size_t groups = optim::resolve_groups(config.section("optimizer")).size();
    WEFT_CHECK(moments_since_.empty() || moments_since_.size() == groups,
               "one count for each group of the optimizer");
    moments_since_.resize(groups);
}

std::vector<std::pair<std::string, double>>
UpdateScalars::of(const data::Batch& batch, std::int64_t done, double rate_multiplier) const {
    std::vector<std::pair<std::string, double>> out;
    for (const compile::LearningRate& rate : rates_) {
        out.emplace_back(rate.port,
                         rate.base * rate_multiplier *
                             compile::learning_rate_factor(rate.schedule, done, schedule_steps_));
    }
    for (std::size_t group = 0; group < moments_since_.size(); ++group) {
        out.emplace_back(compile::step_port(group, moments_since_.size()),
                         static_cast<double>(done - moments_since_[group]));
    }
    out.emplace_back("inverse_count", batch.count > 0 ? 1.0 / batch.count : 0.0);
    return out;
}

Update::Update(exec::Executor& executor, const compile::RunConfig& config,
               std::int64_t schedule_steps, std::vector<std::int64_t> moments_since)
    : executor_(executor), config_(config),
      scalars_(config, schedule_steps, std::move(moments_since)),
      scales_loss_(config.loss_scale.has_value()) {
    for (const std::string& name : output_names(executor, kUpdateProgram)) {
        if (std::find(kOwnNames.begin(), kOwnNames.end(), name) == kOwnNames.end()) {
            metric_names_.push_back(name);
        }
    }
}

void Update::write_arguments(const data::Batch& batch, std::int64_t done, double rate_multiplier) {
    write_argument(executor_, kUpdateProgram, "inputs", batch.inputs);
    write_argument(executor_, kUpdateProgram, "targets", batch.targets);
    write_argument(executor_, kUpdateProgram, "weights", std::as_bytes(std::span(batch.weights)));
    for (const auto& [name, value] : scalars_.of(batch, done, rate_multiplier)) {
        write_scalar(executor_, kUpdateProgram, name, value);
        learning_rate_ = name == "learning_rate" ? value : learning_rate_;
    }
    write_random(executor_, kUpdateProgram, config_.seed, done, batch.first_sample);
}

exec::RunOutcome Update::run(const data::Batch& batch, std::int64_t done, double rate_multiplier,
                             std::stop_token stop) {
    write_arguments(batch, done, rate_multiplier);
    return executor_.run(kUpdateProgram, std::move(stop));
}

UpdateNumbers Update::numbers() {
    UpdateNumbers out;
    out.loss = read_scalar(executor_, kUpdateProgram, "loss");
    out.grad_norm = read_scalar(executor_, kUpdateProgram, "grad_norm");
    out.finite = read_scalar(executor_, kUpdateProgram, "finite") != 0.0;
    for (const std::string& name : metric_names_) {
        out.metrics.emplace_back("train/" + name, read_scalar(executor_, kUpdateProgram, name));
    }
    for (const auto& [name, value] : compile::metrics_from_loss(config_, out.loss)) {
        out.metrics.emplace_back("train/" + name, value);
    }
    if (scales_loss_) {
        out.loss_scale = read_scalar(executor_, kUpdateProgram, "loss_scale");
        out.skipped = std::llround(read_scalar(executor_, kUpdateProgram, "skipped"));
        out.metrics.emplace_back("train/loss_scale", out.loss_scale);
    }
    return out;
}

exec::RunReport Update::run_checked(const data::Batch& batch, std::int64_t done,
                                    double rate_multiplier) {
    write_arguments(batch, done, rate_multiplier);
    return executor_.run_checked(kUpdateProgram);
}

} // namespace weft::train
