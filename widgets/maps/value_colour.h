// SPDX-License-Identifier: GPL-3.0-or-later
// The colour of a number between minus and plus the largest one.
#pragma once

#include <QColor>

#include <span>

namespace weft::widgets {

/// `share` from -1 to 1; 0 is the ground that views have. Not a number: the colour of errors.
QColor valueColour(double share);
/// The largest size of finite numbers; 0 where there are none.
float largestSize(std::span<const float> values);

} // namespace weft::widgets
