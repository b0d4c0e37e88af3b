// SPDX-License-Identifier: GPL-3.0-or-later
// Runs and checkpoints go to the desktop's trash, never straight to nothing, and never while a
// process trains them. For background threads.
#pragma once

#include <QString>

#include <filesystem>
#include <vector>

namespace weft::ui {

struct Trashed {
    std::filesystem::path from;
    std::filesystem::path in_trash;
    QString problem; // why nothing was moved; empty when it was
};

/// Moves a whole run.
Trashed trashRun(const std::filesystem::path& run);
/// Moves one checkpoint folder of a run that nobody trains.
Trashed trashCheckpoint(const std::filesystem::path& checkpoint);
/// Puts all of them back to where they were. The answer is empty, or says what stays in the trash
/// and why.
QString bringBack(const std::vector<Trashed>& trashed);

} // namespace weft::ui
