// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/shell/main_window.h"
#include "ui/studio.h"

/// The Mesh & Plan page: scrubbing through a step, an edit to what it changes, large drawings.
/// Prints each figure with its target; the window is resized.
void bench_mesh(weft::ui::Studio& studio, weft::ui::MainWindow& window);
/// Of these only the edits of a large mesh.
void bench_edits(weft::ui::Studio& studio, weft::ui::MainWindow& window);
