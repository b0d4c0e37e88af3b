// SPDX-License-Identifier: GPL-3.0-or-later
// The devices of a plan as the studio draws them. A pure function of the plan.
#pragma once

#include "core/plan/plan.h"
#include "widgets/mesh/device_set.h"

namespace weft::ui {

widgets::DeviceSet meshDevices(const plan::ExecutionPlan& plan);

} // namespace weft::ui
