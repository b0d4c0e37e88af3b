// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/look/number_style.h"

#include "widgets/look/painting.h"

#include <QRegularExpression>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kMostWrittenOut = 1e7;
constexpr double kLeastGrouped = 1e4;
constexpr int kLeastPlace = -3; // smaller ones are told by their exponents
constexpr int kDigitsBelowOne = 3;
constexpr int kDigitsFromOne = 4;
constexpr double kMostLost = 0.01; // of a number of which a column has room for one digit

} // namespace

QString formatExponent(double value) {
    if (std::isnan(value)) {
        return QStringLiteral("NaN");
    }
    if (std::isinf(value)) {
        return value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
    }
    static const QRegularExpression padding("e[+]?(-?)0*");
    const QString text = QString::number(value, 'e', 2).replace(padding, "e\\1");
    return text.endsWith('e') ? text + '0' : text;
}

NumberStyle::NumberStyle(std::vector<double> values, Wholes wholes) {
    std::erase_if(values, [](double value) {
        return !std::isfinite(value) || std::abs(value) >= kMostWrittenOut;
    });
    if (wholes == Wholes::Bare &&
        std::all_of(values.begin(), values.end(), [](double v) { return v == std::trunc(v); })) {
        decimals_ = 0;
        grouped_ = std::any_of(values.begin(), values.end(),
                               [](double value) { return std::abs(value) >= kLeastGrouped; });
        return;
    }
    std::erase(values, 0.0);
    if (values.empty()) {
        return;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end(),
                     [](double a, double b) { return std::abs(a) < std::abs(b); });
    const int place = static_cast<int>(std::floor(std::log10(std::abs(*middle))));
    exponents_ = place < kLeastPlace;
    decimals_ = std::max(0, (place < 0 ? kDigitsBelowOne : kDigitsFromOne) - 1 - place);
}

QString NumberStyle::text(double value) const {
    const double size = std::abs(value);
    if (size == 0) {
        return formatDecimals(0, exponents_ ? 0 : decimals_);
    }
    if (!std::isfinite(value) || size >= kMostWrittenOut || exponents_) {
        return formatExponent(value);
    }
    const double unit = std::pow(10.0, -decimals_);
    const bool one_digit = size < 10 * unit;
    if (one_digit && std::abs(std::round(size / unit) * unit - size) > kMostLost * size) {
        const int place = static_cast<int>(std::floor(std::log10(size)));
        return place < kLeastPlace ? formatExponent(value)
                                   : formatDecimals(value, kDigitsBelowOne - 1 - place);
    }
    return grouped_ ? formatDecimals(value, decimals_) : QString::number(value, 'f', decimals_);
}

} // namespace weft::widgets
