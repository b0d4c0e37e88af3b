// SPDX-License-Identifier: GPL-3.0-or-later
// What could be otherwise about a run, to be tried with a tick.
#pragma once

#include "core/compile/config/run_config.h"

#include <QString>

#include <string>
#include <vector>

namespace weft::ui {

/// One thing that could be otherwise.
struct PlanChange {
    QString id;                         // "recompute.blocks"; stable, for tests
    QString label;                      // "recompute blocks"
    QString group;                      // of several changes of one group only one can be chosen
    std::vector<std::string> overrides; // "--set" assignments
};

/// What can be tried on this configuration: each change is to something that it is not.
std::vector<PlanChange> planChanges(const compile::RunConfig& config);

} // namespace weft::ui
