// SPDX-License-Identifier: Apache-2.0
// One optimizer update: batch and scalars into the train_step program, numbers out of it.
#pragma once

#include "core/compile/programs/programs.h"
#include "core/data/loader.h"
#include "core/exec/executor.h"
#include "core/train/ranks/batch_feed.h"
#include "core/train/record/event.h"

#include <deque>
#include <stop_token>

namespace weft::train {

struct UpdateNumbers {
    double learning_rate = 0; // base
    double loss = 0;
    double grad_norm = 0;
    bool finite = true;       // false: the update was not taken, nor is any after it
    double loss_scale = 0;    // of the gradients, in f16
    std::int64_t skipped = 0; // updates of the run that were not taken but passed over
    Metrics metrics;          // "train/accuracy", ... "train/loss_scale"
};

/// The scalar arguments of an update, but for the random key.
class UpdateScalars {
public:
    /// `schedule_steps`: the frozen length that schedules count in. `moments_since`: by group of
    /// the optimizer, as Progress has it; none: 0 for each.
    UpdateScalars(const compile::RunConfig& config, std::int64_t schedule_steps,
                  std::vector<std::int64_t> moments_since = {});

    /// Factors besides those of the schedules, by learning rate (compile::learning_rates); 1 each
    /// at first.
    void set_rate_factors(std::vector<double> factors);
    /// As Progress has it.
    void set_moments_since(std::vector<std::int64_t> counts);
    /// Of the update that follows `done` completed ones.
    std::vector<std::pair<std::string, double>> of(const data::Batch& batch, std::int64_t done,
                                                   double rate_multiplier) const;

private:
    std::int64_t schedule_steps_;
    std::vector<compile::LearningRate> rates_;
    std::vector<std::int64_t> moments_since_;
    std::vector<double> rate_factors_;
};

/// Updates go one after another: the numbers come in the order in which they were started. Devices
/// that work by themselves are given the next update before the numbers of the last are looked at.
class Update {
public:
    /// As UpdateScalars.
    Update(exec::Executor& executor, const compile::RunConfig& config, std::int64_t schedule_steps,
           std::vector<std::int64_t> moments_since = {});

    /// As UpdateScalars, for those that are started from now on.
    void set_rate_factors(std::vector<double> factors) {
        scalars_.set_rate_factors(std::move(factors));
    }
    void set_moments_since(std::vector<std::int64_t> counts) {
        scalars_.set_moments_since(std::move(counts));
    }
    /// Layers that stay as they are (LiveSettings::frozen), from the next update on.
    void set_frozen(std::vector<std::string> patterns) { frozen_ = std::move(patterns); }
    /// Updates that may be under way, their numbers not taken, when another one is started. On the
    /// host none: it has done an update when it has started it.
    std::size_t depth() const;
    /// Starts the update that follows `done` others. `rate_multiplier` scales every learning rate.
    /// Nothing of the batch is needed afterwards.
    exec::RunOutcome start(const data::Batch& batch, std::int64_t done, double rate_multiplier,
                           std::stop_token stop);
    /// The same with the batch that `feed` gave last.
    exec::RunOutcome start(const BatchFeed& feed, std::int64_t done, double rate_multiplier,
                           std::stop_token stop);
    /// Of the first update that is under way, which is waited for.
    UpdateNumbers numbers();
    /// Waits for all that are under way, whose numbers nobody wants.
    void drop();
    /// Runs an update again, looking for the first op whose result is not finite.
    exec::RunReport run_checked(const data::Batch& batch, std::int64_t done, double rate_multiplier,
                                const exec::Checking& checking = {});

private:
    struct UnderWay {
        exec::Handover results;
        double learning_rate = 0;
    };
    /// All but the rows of the batch. Returns the base learning rate.
    double write_scalars(const data::Batch& batch, std::int64_t done, double rate_multiplier);
    exec::RunOutcome start_written(double learning_rate, std::stop_token stop);

    exec::Executor& executor_;
    const compile::RunConfig& config_;
    UpdateScalars scalars_;
    std::vector<std::string> freezable_; // layers that the program can freeze
    std::vector<std::string> frozen_;    // patterns
    std::vector<std::string> names_; // of what the program hands over
    std::vector<ir::DType> types_;   // of each
    std::deque<UnderWay> under_way_;
};

} // namespace weft::train
