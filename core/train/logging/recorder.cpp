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

std::string Recorder::add(const Event& event) {
    try {
        if (store_) {
            store_->add(event);
        }
    } catch (const Error& fault) {
        store_.reset();
        problem_ = fault.message();
    }
    try {
        if (tensorboard_) {
            const auto* step = std::get_if<StepEvent>(&event.payload);
            const auto* evaluation = std::get_if<EvaluationEvent>(&event.payload);
            const std::int64_t at = step != nullptr         ? step->step
                                    : evaluation != nullptr ? evaluation->step
                                                            : 0;
            tensorboard_->add(event.time, at, scalars(event.payload));
        }
    } catch (const Error& fault) {
        tensorboard_.reset();
        problem_ = fault.message();
    }
    return std::exchange(problem_, {});
}

} // namespace weft::train
