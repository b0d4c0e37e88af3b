// SPDX-License-Identifier: Apache-2.0
#include "core/train/logging/recorder.h"

#include "core/base/error.h"

#include <utility>

namespace weft::train {

Recorder::Recorder(const std::filesystem::path& metrics_folder, bool tensorboard, double now,
                   const std::string& host)
    : folder_(metrics_folder) {
    try {
        store_.emplace(metrics_folder);
        if (tensorboard) {
            tensorboard_ = std::make_unique<TensorboardWriter>(metrics_folder, now, host);
        }
    } catch (const Error& fault) {
        problem_ = fault.message();
    }
}

void Recorder::keep_for_wandb(const std::filesystem::path& folder, const WandbRun& run,
                              double now) {
    try {
        wandb_ = std::make_unique<WandbWriter>(folder, run, now);
    } catch (const Error& fault) {
        problem_ = fault.message();
    }
}

void Recorder::finish() {
    try {
        if (wandb_) {
            wandb_->finish(true);
        }
    } catch (const Error&) {
        wandb_.reset(); // it says less than it might; the run's own record is whole
    }
}

std::string Recorder::add(const Event& event) {
    try {
        if (store_) {
            store_->add(event);
        }
    } catch (const Error& fault) {
        store_.reset();
        problem_ = fault.message();
    }
    const auto* step = std::get_if<StepEvent>(&event.payload);
    const auto* evaluation = std::get_if<EvaluationEvent>(&event.payload);
    const std::int64_t at = step != nullptr         ? step->step
                            : evaluation != nullptr ? evaluation->step
                                                    : 0;
    try {
        if (wandb_) {
            wandb_->add(event.time, at, scalars(event.payload));
        }
    } catch (const Error& fault) {
        wandb_.reset();
        problem_ = fault.message();
    }
    try {
        if (tensorboard_) {
            tensorboard_->add(event.time, at, scalars(event.payload));
        }
    } catch (const Error& fault) {
        tensorboard_.reset();
        problem_ = fault.message();
    }
    return std::exchange(problem_, {});
}

void Recorder::add_look(const Watched& watched, const InsideLook& look, double now) {
    if (!tensorboard_) {
        return;
    }
    std::vector<std::pair<std::string, const Spread*>> spreads;
    for (std::size_t i = 0; i < watched.parameters.size(); ++i) {
        const std::string& name = watched.parameters[i].slot->name;
        const ParameterLook& seen = look.parameters[i];
        spreads.emplace_back("weights/" + name, &seen.weights);
        spreads.emplace_back("gradients/" + name, &seen.gradients);
        spreads.emplace_back("updates/" + name, &seen.updates);
    }
    for (std::size_t i = 0; i < watched.activations.size(); ++i) {
        spreads.emplace_back("activations/" + watched.activations[i].layer,
                             &look.activations[i].spread);
    }
    try {
        tensorboard_->add_histograms(now, look.step, spreads);
    } catch (const Error& fault) {
        tensorboard_.reset();
        problem_ = fault.message();
    }
}

} // namespace weft::train
