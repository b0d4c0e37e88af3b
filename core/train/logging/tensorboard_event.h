// SPDX-License-Identifier: Apache-2.0
// What one record of a TensorBoard event file says, of what concerns us: scalars (plain, or as the
// one-element tensors of TensorFlow 2 and PyTorch), hyperparameters, and that a session began at a
// step. The wire format of protocol buffers, by hand. Every byte comes from strangers: nothing is
// trusted, and what is not understood is passed over.
#pragma once

#include "core/config/field.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace weft::train {

/// One value of a summary. The texts point into the record.
struct TensorboardValue {
    std::string_view tag;
    std::string_view plugin; // "scalars"; empty where the value does not say
    std::optional<double> number;
    std::string_view hparams; // content of the plug-in "hparams": read_hparams
    // Messages of what is no number, for tensorboard_media.h.
    std::string_view image, histogram, audio, tensor;
};

struct TensorboardEvent {
    double time = 0; // s, UTC epoch
    std::int64_t step = 0;
    bool session_start = false; // whatever was written at `step` and later no longer counts
    bool graph = false;         // it holds a graph
};

/// Calls `take` for every value. False when the bytes are no event.
bool read_tensorboard_event(
    std::string_view payload,
    const std::function<void(const TensorboardEvent&, const TensorboardValue&)>& take,
    TensorboardEvent& event);

/// Hyperparameters of a session by name: numbers, texts, booleans; empty when there are none.
config::Json read_hparams(std::string_view content);

} // namespace weft::train
