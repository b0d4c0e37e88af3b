// SPDX-License-Identifier: GPL-3.0-or-later
// The collectives of a planned step as arrows between its devices. Pure functions of the plan.
#pragma once

#include "core/plan/plan.h"
#include "widgets/mesh/collective_view.h"

#include <QString>

#include <span>

namespace weft::ui {

/// Executions of one collective by the devices of one stage.
struct CollectiveShare {
    std::string kind;
    std::vector<std::string> axes;
    int stage = 0;
    int to_stage = -1;           // of a message
    std::int64_t sent_bytes = 0; // by each device of the stage, a step
    double count = 0;            // executions a step
};

/// Bytes from device to device by the algorithms of core/cost/exchange.h: a ring passes all on to
/// the next of the group, an all-to-all divides it among the others, a message goes to the same
/// place of another stage. Shares over the same axes are added up. Of more than kMostDrawn devices
/// one group is drawn, of the first device.
widgets::CollectiveGraph collectiveGraph(const plan::ExecutionPlan& plan,
                                         std::span<const CollectiveShare> shares);
inline constexpr int kMostDrawn = 64;

/// "all-reduce", "send".
QString collectiveName(const std::string& kind);

} // namespace weft::ui
