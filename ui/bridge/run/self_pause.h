// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that pause without being asked to, because something has to be mended first: a full disk, a
// folder that is gone.
#pragma once

#include "ui/bridge/run/run_model.h"

namespace weft::ui {

struct SelfPause {
    QString reason; // "the run's folder is gone"
    QString detail; // what happened and what to do
};

/// Nothing while the run does anything else, or was asked to pause.
std::optional<SelfPause> selfPause(const RunModel& run);

} // namespace weft::ui
