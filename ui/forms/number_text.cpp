// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/number_text.h"

#include "core/config/pointer.h"
#include "ui/bridge/convert.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace weft::ui {
namespace {

using config::Json;

constexpr double kExactIntegers = 9007199254740992.0; // 2^53

class NumberWords {
    Q_DECLARE_TR_FUNCTIONS(NumberText)
};

/// A unit of bytes at the end is taken off; its factor.
double takeUnit(QString& text) {
    static constexpr std::array<std::pair<const char*, double>, 9> kUnits = {{
        {"KiB", 1024.0},
        {"MiB", 1048576.0},
        {"GiB", 1073741824.0},
        {"TiB", 1099511627776.0},
        {"kB", 1e3},
        {"MB", 1e6},
        {"GB", 1e9},
        {"TB", 1e12},
        {"B", 1.0},
    }};
    for (const auto& [name, factor] : kUnits) {
        if (text.endsWith(QLatin1String(name), Qt::CaseInsensitive)) {
            text.chop(static_cast<int>(std::char_traits<char>::length(name)));
            return factor;
        }
    }
    return 1.0;
}

/// `mantissa` holds digits and separators; with a decimal point only, or null and the reason.
QString withPoint(const QString& mantissa, bool integer, QString& problem) {
    static const QRegularExpression kPlain("^[+-]?(\\d+\\.?\\d*|\\.\\d+)$");
    static const QRegularExpression kGroups("^[+-]?\\d{1,3}([,.])\\d{3}(\\1\\d{3})*$");
    static const QRegularExpression kGroupsAndFraction(
        "^[+-]?\\d{1,3}([,.])\\d{3}(\\1\\d{3})*(?!\\1)[,.]\\d*$");
    static const QRegularExpression kComma("^[+-]?(\\d+,\\d*|,\\d+)$");
    const qsizetype separators = mantissa.count(',') + mantissa.count('.');
    const bool one_group = separators == 1 && kGroups.match(mantissa).hasMatch() &&
                           !mantissa.startsWith('0') && !mantissa.startsWith("-0") &&
                           !mantissa.startsWith("+0");
    // "1,000" in a field of reals, and "1.000" in one of integers, are read in two ways.
    if (one_group && mantissa.contains(integer ? '.' : ',')) {
        QString joined = mantissa;
        QString point = mantissa;
        joined.remove(integer ? '.' : ',');
        point.replace(',', '.');
        problem = NumberWords::tr("“%1” can be read as %2 or as %3: write one of these")
                      .arg(mantissa, joined, integer ? point.section('.', 0, 0) : point);
        return {};
    }
    if (kPlain.match(mantissa).hasMatch()) {
        return mantissa;
    }
    QString text = mantissa;
    const QRegularExpressionMatch both = kGroupsAndFraction.match(mantissa);
    if (kGroups.match(mantissa).hasMatch() && (separators > 1 || integer)) {
        return text.remove(',').remove('.');
    }
    if (both.hasMatch()) {
        return text.remove(both.captured(1)).replace(',', '.');
    }
    if (kComma.match(mantissa).hasMatch()) {
        return text.replace(',', '.');
    }
    problem = NumberWords::tr("“%1” is not a number").arg(mantissa);
    return {};
}

/// [["data", 4], ["model", 2]]
bool areAxes(const Json& value) {
    return value.is_array() && !value.empty() &&
           std::all_of(value.begin(), value.end(), [](const Json& axis) {
               return axis.is_array() && axis.size() == 2 && axis[0].is_string() &&
                      axis[1].is_number();
           });
}

/// "0.9, 0.999"; "warmup_cosine, warmup_steps 100": the type of a record needs no name.
QString membersText(const Json& value) {
    QStringList parts;
    for (const auto& [name, part] : value.items()) {
        const bool named = value.is_object() && name != "type";
        const bool nested = part.is_structured() && !part.empty() && value.size() > 1;
        const QString text = settingText(part);
        parts << (named ? toQString(name) + " " : QString()) +
                     (nested ? QStringLiteral("(%1)").arg(text) : text);
    }
    return parts.isEmpty() ? QStringLiteral("–") : parts.join(QStringLiteral(", "));
}

} // namespace

TypedNumber readNumber(const QString& typed, const config::Field& field) {
    QString text = typed;
    text.remove(QRegularExpression("[\\s_'’]"));
    const double unit = field.unit == "bytes" ? takeUnit(text) : 1.0;
    static const QRegularExpression kParts("^([+-]?[\\d.,]+)(?:[eE]([+-]?\\d{1,4}))?$");
    const QRegularExpressionMatch parts = kParts.match(text);
    TypedNumber out;
    if (!parts.hasMatch()) {
        out.problem = NumberWords::tr("“%1” is not a number").arg(typed);
        return out;
    }
    const bool has_power = parts.capturedLength(2) > 0;
    const bool integer = field.type == config::FieldType::integer && !has_power && unit == 1.0;
    const QString mantissa = withPoint(parts.captured(1), integer, out.problem);
    if (mantissa.isNull()) {
        return out;
    }
    if (!mantissa.contains('.') && !has_power && unit == 1.0) {
        bool fits = false;
        const qlonglong whole = mantissa.toLongLong(&fits);
        if (fits) {
            out.value = static_cast<std::int64_t>(whole);
            return out;
        }
    }
    const double number =
        (has_power ? mantissa + "e" + parts.captured(2) : mantissa).toDouble() * unit;
    if (!std::isfinite(number)) {
        out.problem = NumberWords::tr("“%1” is too large").arg(typed);
    } else if (number == std::trunc(number) && std::abs(number) <= kExactIntegers &&
               field.type == config::FieldType::integer) {
        out.value = static_cast<std::int64_t>(number);
    } else {
        out.value = number;
    }
    return out;
}

QString numberText(const Json& value) {
    if (!value.is_number()) {
        return value.is_string() ? toQString(value.get_ref<const std::string&>())
                                 : toQString(value.dump());
    }
    if (value.is_number_integer()) {
        return toQString(value.dump());
    }
    QString text = toQString(config::number_text(value.get<double>()));
    return text.replace(QRegularExpression("e([+-])0+(\\d)"), "e\\1\\2").replace("e+", "e");
}

QString settingText(const Json& value) {
    if (value.is_null()) {
        return QStringLiteral("–");
    }
    if (value.is_object() && value.size() == 1 && value.begin()->is_number()) {
        return numberText(*value.begin()) + " " + toQString(value.begin().key());
    }
    if (areAxes(value)) {
        QStringList axes;
        for (const Json& axis : value) {
            axes << numberText(axis[0]) + "=" + numberText(axis[1]);
        }
        return axes.join(QStringLiteral(" × "));
    }
    return value.is_structured() ? membersText(value) : numberText(value);
}

QString rateText(double rate) {
    constexpr double kWrittenOut = 0.01;
    if (rate == 0.0 || std::abs(rate) >= kWrittenOut) {
        return QString::number(rate, 'g', 3);
    }
    static const QRegularExpression kZeros("\\.?0*e-0*");
    return QString::number(rate, 'e', 2).replace(kZeros, "e-");
}

Json steppedNumber(const Json& value, const config::Field& field, int steps) {
    double number = value.is_number()              ? value.get<double>()
                    : std::isfinite(field.minimum) ? field.minimum
                                                   : 0.0;
    const auto clamped = [&](double wanted) {
        return std::clamp(wanted, field.minimum, field.maximum);
    };
    if (field.type == config::FieldType::integer) {
        const double wanted = value.is_number() ? number + steps : number;
        const double lowest = field.exclusive_minimum ? field.minimum + 1 : field.minimum;
        return static_cast<std::int64_t>(std::clamp(wanted, std::max(lowest, -kExactIntegers),
                                                    std::min(field.maximum, kExactIntegers)));
    }
    for (int i = 0; i < std::abs(steps); ++i) {
        // Down from 1e-3 goes to 9e-4, not to 0.
        const double size = std::abs(number);
        double power = size > 0 ? std::floor(std::log10(size * (1 + 1e-12))) : -2.0;
        const bool shrinks = (steps < 0) == (number > 0) && size > 0;
        if (shrinks && size <= std::pow(10.0, power) * (1 + 1e-9)) {
            power -= 1;
        }
        const double unit = std::pow(10.0, power);
        const double wanted = std::round(number / unit + (steps < 0 ? -1 : 1)) * unit;
        const double next = clamped(wanted);
        if (field.exclusive_minimum && next <= field.minimum) {
            break;
        }
        number = next;
    }
    // Without the dust of binary fractions: 3e-4, not 3.0000000000000003e-4.
    return QString::number(number, 'g', 12).toDouble();
}

} // namespace weft::ui
