// SPDX-License-Identifier: GPL-3.0-or-later
// Runs and checkpoints go to the desktop's trash, never straight to nothing, and never while a
// process trains them. For background threads.
#pragma once

#include <QString>

#include <filesystem>

namespace weft::ui {

/// Moves a whole run. The answer is empty, or says why nothing was moved.
QString trashRun(const std::filesystem::path& run);
/// Moves one checkpoint folder of a run that nobody trains.
QString trashCheckpoint(const std::filesystem::path& checkpoint);

} // namespace weft::ui
