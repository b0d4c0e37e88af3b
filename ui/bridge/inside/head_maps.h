// SPDX-License-Identifier: GPL-3.0-or-later
// Weights of attention of one layer, ready to be drawn; made off the GUI thread.
#pragma once

#include "core/train/sample_look/sample_look.h"

#include <optional>
#include <stop_token>
#include <vector>

namespace weft::ui {

/// The heads of a layer at a glance, and their mean.
struct HeadMaps {
    int rows = 0, columns = 0; // of a small picture
    std::vector<float> small;  // [rows, columns, heads]: means of what falls together
    std::vector<float> mean;   // [T, S]
};

/// Nothing when it was stopped.
std::optional<HeadMaps> headMaps(const train::AttentionLook& look, const std::stop_token& stop);

} // namespace weft::ui
