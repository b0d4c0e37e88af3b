// SPDX-License-Identifier: Apache-2.0
#include "core/train/update.h"

#include "core/train/program_io.h"

namespace weft::train {
namespace {

constexpr const char* kUpdateProgram = "train_step";

} // namespace

std::vector<std::pair<std::string, double>>
update_scalars(const std::vector<compile::LearningRate>& rates, const data::Batch& batch,
               std::int64_t done, std::int64_t schedule_steps, double rate_multiplier) {
    std::vector<std::pair<std::string, double>> out;
    for (const compile::LearningRate& rate : rates) {
        out.emplace_back(rate.port,
                         rate.base * rate_multiplier *
                             compile::learning_rate_factor(rate.schedule, done, schedule_steps));
    }
    out.emplace_back("step", static_cast<double>(done));
    out.emplace_back("inverse_count", batch.count > 0 ? 1.0 / batch.count : 0.0);
    return out;
}

Update::Update(exec::Executor& executor, const compile::RunConfig& config,
               std::int64_t schedule_steps)
    : executor_(executor), config_(config), schedule_steps_(schedule_steps),
      rates_(compile::learning_rates(config)) {
    for (const std::string& name : output_names(executor, kUpdateProgram)) {
        if (name != "loss" && name != "grad_norm" && name != "finite") {
            metric_names_.push_back(name);
        }
    }
}

void Update::write_arguments(const data::Batch& batch, std::int64_t done, double rate_multiplier) {
    write_argument(executor_, kUpdateProgram, "inputs", batch.inputs);
    write_argument(executor_, kUpdateProgram, "targets", batch.targets);
    write_argument(executor_, kUpdateProgram, "weights", std::as_bytes(std::span(batch.weights)));
    for (const auto& [name, value] :
         update_scalars(rates_, batch, done, schedule_steps_, rate_multiplier)) {
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
    return out;
}

exec::RunReport Update::run_checked(const data::Batch& batch, std::int64_t done,
                                    double rate_multiplier) {
    write_arguments(batch, done, rate_multiplier);
    return executor_.run_checked(kUpdateProgram);
}

} // namespace weft::train
