// SPDX-License-Identifier: Apache-2.0
#include "core/train/update.h"

#include "core/base/check.h"
#include "core/optim/groups.h"
#include "core/train/control/freezable_layers.h"
#include "core/train/control/live_settings.h"
#include "core/train/program_io.h"

#include <algorithm>
#include <cmath>

namespace weft::train {
namespace {

constexpr const char* kUpdateProgram = "train_step";

} // namespace

UpdateScalars::UpdateScalars(const compile::RunConfig& config, std::int64_t schedule_steps,
                             std::vector<std::int64_t> moments_since)
    : schedule_steps_(schedule_steps), rates_(compile::learning_rates(config)),
      moments_since_(std::move(moments_since)), rate_factors_(rates_.size(), 1.0) {
    const std::size_t groups = optim::resolve_groups(config.section("optimizer")).size();
    WEFT_CHECK(moments_since_.empty() || moments_since_.size() == groups,
               "one count for each group of the optimizer");
    moments_since_.resize(groups);
}

void UpdateScalars::set_moments_since(std::vector<std::int64_t> counts) {
    WEFT_CHECK(counts.size() == moments_since_.size(), "one count for each group");
    moments_since_ = std::move(counts);
}

void UpdateScalars::set_rate_factors(std::vector<double> factors) {
    WEFT_CHECK(factors.size() == rates_.size(), "a factor for each learning rate");
    rate_factors_ = std::move(factors);
}

std::vector<std::pair<std::string, double>>
UpdateScalars::of(const data::Batch& batch, std::int64_t done, double rate_multiplier) const {
    std::vector<std::pair<std::string, double>> out;
    for (std::size_t i = 0; i < rates_.size(); ++i) {
        const compile::LearningRate& rate = rates_[i];
        out.emplace_back(rate.port,
                         rate.base * rate_multiplier * rate_factors_[i] *
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
      freezable_(freezable_layers(executor.plan())),
      names_(output_names(executor, kUpdateProgram)) {
    for (const std::string& name : names_) {
        types_.push_back(find_result(executor, kUpdateProgram, name)->operand.type.dtype);
    }
}

double Update::write_scalars(const data::Batch& batch, std::int64_t done, double rate_multiplier) {
    double learning_rate = 0;
    for (const auto& [name, value] : scalars_.of(batch, done, rate_multiplier)) {
        write_scalar(executor_, kUpdateProgram, name, value);
        learning_rate = name == "learning_rate" ? value : learning_rate;
    }
    for (const std::string& layer : freezable_) {
        const bool frozen =
            std::any_of(frozen_.begin(), frozen_.end(),
                        [&](const std::string& pattern) { return freezes(pattern, layer); });
        write_scalar(executor_, kUpdateProgram, compile::frozen_port(layer), frozen ? 1 : 0);
    }
    write_random(executor_, kUpdateProgram, config_.seed, done, batch.first_sample);
    return learning_rate;
}

std::size_t Update::depth() const {
    return executor_.on_host() ? 0 : 1;
}

exec::RunOutcome Update::start(const data::Batch& batch, std::int64_t done, double rate_multiplier,
                               std::stop_token stop) {
    write_batch(executor_, kUpdateProgram, batch);
    return start_written(write_scalars(batch, done, rate_multiplier), std::move(stop));
}

exec::RunOutcome Update::start(const BatchFeed& feed, std::int64_t done, double rate_multiplier,
                               std::stop_token stop) {
    feed.write(executor_);
    return start_written(write_scalars(feed.batch(), done, rate_multiplier), std::move(stop));
}

exec::RunOutcome Update::start_written(double learning_rate, std::stop_token stop) {
    WEFT_CHECK(under_way_.size() <= depth(), "the numbers of an update are taken before too many");
    const exec::RunOutcome outcome = executor_.run(kUpdateProgram, std::move(stop));
    if (outcome == exec::RunOutcome::finished) {
        under_way_.push_back({executor_.hand_over(kUpdateProgram, names_), learning_rate});
    }
    return outcome;
}

UpdateNumbers Update::numbers() {
    WEFT_CHECK(!under_way_.empty(), "an update has numbers once it is started");
    UnderWay first = std::move(under_way_.front());
    under_way_.pop_front();
    first.results.wait();
    UpdateNumbers out;
    out.learning_rate = first.learning_rate;
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const std::string& name = names_[i];
        const double value = scalar_of(types_[i], first.results[i]);
        if (name == "loss") {
            out.loss = value;
        } else if (name == "grad_norm") {
            out.grad_norm = value;
        } else if (name == "finite") {
            out.finite = value != 0.0;
        } else if (name == "loss_scale") {
            out.loss_scale = value;
        } else if (name == "skipped") {
            out.skipped = std::llround(value);
        } else {
            out.metrics.emplace_back("train/" + name, value);
        }
    }
    for (const auto& [name, value] : compile::metrics_from_loss(config_, out.loss)) {
        out.metrics.emplace_back("train/" + name, value);
    }
    if (config_.scales_loss()) {
        out.metrics.emplace_back("train/loss_scale", out.loss_scale);
    }
    return out;
}

void Update::drop() {
    while (!under_way_.empty()) {
        under_way_.front().results.wait();
        under_way_.pop_front();
    }
}

exec::RunReport Update::run_checked(const data::Batch& batch, std::int64_t done,
                                    double rate_multiplier, const exec::Checking& checking) {
    write_batch(executor_, kUpdateProgram, batch);
    write_scalars(batch, done, rate_multiplier);
    return executor_.run_checked(kUpdateProgram, checking);
}

} // namespace weft::train
