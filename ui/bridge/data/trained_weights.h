// SPDX-License-Identifier: GPL-3.0-or-later
// Weights that somebody chose to go on from: whose model they are of.
#pragma once

#include "core/advise/suggest_tuning.h"

#include <filesystem>

namespace weft::ui {

/// A model of Hugging Face's (its folder, or weights beside its config.json), a run (its newest
/// checkpoint) or a checkpoint. Reads files; for a thread that may wait. Throws weft::Error: it is
/// none of these, or cannot be had.
advise::Trained readTrained(const std::filesystem::path& weights);

} // namespace weft::ui
