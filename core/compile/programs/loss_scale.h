// SPDX-License-Identifier: Apache-2.0
// Dynamic loss scaling of a training step in f16 (Micikevicius et al., "Mixed precision training",
// 2018, section 3.2): gradients are computed of the loss times a scale that grows while all goes
// well.
//
// The rule is that of NVIDIA Apex (amp_C.update_scale_hysteresis), whose hysteresis counts
// overflows in a row: an update whose loss or gradient is not finite is not taken, and from the
// `hysteresis`-th in a row on the scale shrinks each time; after `growth_interval` updates in a row
// that were taken it grows.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/ops/builder.h"

#include <array>
#include <string_view>

namespace weft::compile {

/// State slots, f32[] each, in checkpoints. Counts are exact up to 2^24.
struct LossScaleSlot {
    enum Index : std::size_t {
        scale,   // of the next update
        taken,   // updates in a row that were taken, since the scale last changed
        allowed, // overflows in a row that are left before it shrinks
        skipped, // updates of the run that were not taken
        count,
    };
};
inline constexpr std::array<std::string_view, LossScaleSlot::count> kLossScaleSlots = {
    "training.loss_scale", "training.updates_at_scale", "training.overflows_allowed",
    "training.skipped"};

using LossScaleState = std::array<ir::ValueId, LossScaleSlot::count>; // f32[] each

/// Before the first update.
std::array<double, LossScaleSlot::count> first_loss_scale(const LossScale& settings);

struct LossScaleUpdate {
    LossScaleState next; // where it does not fail
    ir::ValueId fails;   // f32[]: 1 where the next scale is below the minimum
};
/// `finite` f32[]: 1 when loss and gradient are.
LossScaleUpdate update_loss_scale(ops::Builder& b, const LossScale& settings,
                                  const LossScaleState& state, ir::ValueId finite);

} // namespace weft::compile
