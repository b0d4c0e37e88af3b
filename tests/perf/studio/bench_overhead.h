// SPDX-License-Identifier: GPL-3.0-or-later
// bench_studio overhead: what a studio that shows a run takes of its speed.
#pragma once

#include "ui/studio.h"

namespace weft {

/// One run of `weft train`, in turns with nobody connected and with this studio's Train page
/// showing it: samples per second of both, and their ratio (target: 2 % less at most).
void bench_overhead(ui::Studio& studio, const std::filesystem::path& runs);

} // namespace weft
