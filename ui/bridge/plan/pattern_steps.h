// SPDX-License-Identifier: GPL-3.0-or-later
// The communication patterns on small numbers, step by step, by the algorithms that core/cost
// prices (core/cost/exchange.h). Pure; the numbers are computed, not drawn.
#pragma once

#include "widgets/mesh/pattern_view.h"

#include <string>
#include <vector>

namespace weft::ui {

/// Of a group of these devices, of which at most so many are shown that the numbers stay readable.
/// Kinds as in plans: "all_reduce", "send_recv". Device i of the group starts with i + 1, and 10
/// more from part to part.
widgets::Pattern communicationPattern(const std::string& kind, std::vector<int> devices,
                                      std::vector<int> mesh);
inline constexpr int kMostPatternDevices = 8;

} // namespace weft::ui
