// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/value_colour.h"

#include "widgets/look/theme.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {

QColor valueColour(double share) {
    const Theme& theme = Theme::current();
    if (!std::isfinite(share)) {
        return theme.color(Role::Error);
    }
    const QColor full = theme.color(share < 0 ? Role::Warning : Role::Accent);
    return mixed(full, theme.color(Role::Inset), std::min(1.0, std::abs(share)));
}

float largestSize(std::span<const float> values) {
    float out = 0;
    for (const float value : values) {
        out = std::isfinite(value) ? std::max(out, std::abs(value)) : out;
    }
    return out;
}

} // namespace weft::widgets
