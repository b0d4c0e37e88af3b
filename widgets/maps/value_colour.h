// SPDX-License-Identifier: GPL-3.0-or-later
// The colour of a number between minus and plus the largest one.
#pragma once

#include <QColor>

#include <array>
#include <span>

namespace weft::widgets {

/// `share` from -1 to 1; 0 is the ground that views have. Not a number: the colour of errors.
QColor valueColour(double share);
/// The same for millions of numbers: looked up, not mixed.
class ValueShades {
public:
    /// `rooted`: small numbers are seen, too, by the root of their size.
    explicit ValueShades(bool rooted = false);
    QRgb of(float share) const;

private:
    static constexpr int kShades = 256; // of each sign
    std::array<QRgb, 2 * kShades + 1> shades_{};
    QRgb bad_; // not a number
};
/// The largest size of finite numbers; 0 where there are none.
float largestSize(std::span<const float> values);

} // namespace weft::widgets
