// SPDX-License-Identifier: Apache-2.0
// The record of a strategy: rules from logical axes to mesh axes, and how state is kept. It never
// inserts an exchange: those follow from the placement of arrays. The rules are what a plan shows.
#pragma once

#include "core/sharding/annotate.h"

#include <span>
#include <string_view>
#include <vector>

namespace weft::sharding {

struct StrategyDef {
    std::string_view name;
    std::string_view help; // what it does, one line
    std::string_view when; // when to use it, one line
    /// Axes of a mesh that was not given; size -1: all devices that the others leave.
    std::vector<Axis> axes;
    std::vector<Rule> rules;
    int zero_stage = 0;
    std::vector<std::string> zero_axes = {};
};

/// Rules that split the work of a layer (Shoeybi et al. 2019): columns of the first weight of a
/// pair, rows of the second, heads, and the vocabulary.
std::vector<Rule> tensor_rules(const std::string& axis);

} // namespace weft::sharding
