// SPDX-License-Identifier: Apache-2.0
// What a folder of TensorBoard event files comes to as a run.
#pragma once

#include "core/train/record/run_summary.h"

namespace weft::train {

/// Fills everything but folder, stamp, state and annotations. Throws weft::Error{data}.
void summarise_tensorboard(RunSummary& summary);

} // namespace weft::train
