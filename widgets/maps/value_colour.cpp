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

ValueShades::ValueShades(bool rooted) : bad_(valueColour(std::nan("")).rgb()) {
    for (std::size_t i = 0; i < shades_.size(); ++i) {
        const double share = (static_cast<double>(i) - kShades) / kShades;
        const double root = std::copysign(std::sqrt(std::abs(share)), share);
        shades_[i] = valueColour(rooted ? root : share).rgb();
    }
}

QRgb ValueShades::of(float share) const {
    return std::isfinite(share)
               ? shades_[static_cast<std::size_t>(
                     kShades + std::lround(std::clamp(share, -1.0F, 1.0F) * kShades))]
               : bad_;
}

float largestSize(std::span<const float> values) {
    float out = 0;
    for (const float value : values) {
        out = std::isfinite(value) ? std::max(out, std::abs(value)) : out;
    }
    return out;
}

} // namespace weft::widgets
