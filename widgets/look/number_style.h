// SPDX-License-Identifier: GPL-3.0-or-later
// How the numbers of a column are written: all to the same decimal place, so that they are compared
// at a glance where they stand below each other, at the right.
#pragma once

#include <QString>

#include <vector>

namespace weft::widgets {

/// "1.13e5", "3.20e-4", "NaN", "∞": of what is too large or too small to be written out.
QString formatExponent(double value);

class NumberStyle {
public:
    /// What a column of whole numbers looks like: "3.000", or "3"; up to four digits, which may be
    /// years, then have no comma.
    enum class Wholes { AsOthers, Bare };

    NumberStyle() = default;
    /// With as many decimals as their middle value needs for three to four digits that count; a few
    /// that are far larger or smaller than the others do not decide.
    explicit NumberStyle(std::vector<double> values, Wholes wholes = Wholes::AsOthers);

    /// "0.974", "12.41", "15,230"; by its exponent what would be very long. What would keep one
    /// digit that counts, or none, is written to three by itself: "0.00413", "2.55e-5".
    QString text(double value) const;
    bool operator==(const NumberStyle&) const = default;

private:
    int decimals_ = 3;
    bool exponents_ = false; // all are very small
    bool grouped_ = true;    // 15,230
};

} // namespace weft::widgets
