// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/shell/main_window.h"
#include "ui/studio.h"

#include <string>

/// Event files and event logs of a million scalars, a table of 500 runs, a list of 2,000
/// checkpoints, all made below `root`; `logs`, when it is not empty, is a folder of event files of
/// another program that is read too. Prints each figure with its target.
void bench_runs(weft::ui::Studio& studio, weft::ui::MainWindow& window,
                const std::filesystem::path& root, const std::string& logs);
