// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/chart_axis.h"

#include "widgets/look/painting.h"

#include <QCoreApplication>
#include <QDateTime>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kLabelGap = 12.0; // between labels side by side
constexpr int kMostTicks = 7;      // where a few miss the range

int ticksWithin(const QCPRange& range, double step) {
    return static_cast<int>(std::floor(range.upper / step) - std::ceil(range.lower / step)) + 1;
}

QString trimmed(QString text) {
    if (!text.contains(QLatin1Char('.'))) {
        return text;
    }
    while (text.endsWith(QLatin1Char('0'))) {
        text.chop(1);
    }
    if (text.endsWith(QLatin1Char('.'))) {
        text.chop(1);
    }
    return text;
}

QString scientific(double value) {
    const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
    const double mantissa = value / std::pow(10.0, exponent);
    return trimmed(QString::number(mantissa, 'f', 2)) + QLatin1Char('e') +
           QString::number(exponent);
}

// Mantissas that stay apart at this many decades in view.
QVector<double> mantissas(double decades) {
    if (decades < 0.8) {
        return {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0};
    }
    if (decades < 1.7) {
        return {1.0, 2.0, 3.0, 5.0};
    }
    return decades < 3.2 ? QVector<double>{1.0, 3.0} : QVector<double>{1.0};
}

QVector<double> logTicks(const QCPRange& range, int room) {
    const double low = std::log10(range.lower);
    const double high = std::log10(range.upper);
    const double decades = high - low;
    const int every = std::max(1, static_cast<int>(std::ceil(decades / std::max(2, room))));
    // With little room the next thinner set is taken.
    const double effective = decades * 5.0 / std::max(2, room);
    QVector<double> ticks;
    for (int e = static_cast<int>(std::floor(low)); e <= static_cast<int>(std::ceil(high)); ++e) {
        if (((e % every) + every) % every != 0) {
            continue;
        }
        for (const double mantissa : mantissas(effective)) {
            const double tick = mantissa * std::pow(10.0, e);
            if (tick >= range.lower && tick <= range.upper) {
                ticks.append(tick);
            }
        }
    }
    return ticks;
}

// Down to milliseconds, rounded before minutes are told from seconds.
QString fineTime(double seconds, double step) {
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 1, 3);
    const double scale = std::pow(10.0, decimals);
    const double rounded = std::round(seconds * scale) / scale;
    if (rounded < 60.0) {
        return QCoreApplication::translate("Duration", "%1 s")
            .arg(QString::number(rounded, 'f', decimals));
    }
    const double minutes = std::floor(rounded / 60.0);
    return QCoreApplication::translate("Duration", "%1 m %2 s")
        .arg(std::llround(minutes))
        .arg(QString::number(rounded - minutes * 60.0, 'f', decimals)
                 .rightJustified(decimals + 3, QLatin1Char('0')));
}

} // namespace

QString axisLabel(double tick, double step, double largest) {
    if (std::abs(tick) < step * 1e-6) {
        return QStringLiteral("0");
    }
    if (largest < 1e-2 || largest >= 1e9) {
        return scientific(tick);
    }
    if (largest >= 1e6) {
        return trimmed(QString::number(tick / 1e6, 'f', step < 1e5 ? 2 : 1)) + QStringLiteral(" M");
    }
    if (step >= 1.0 && step == std::round(step)) {
        return formatCount(std::llround(tick));
    }
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 1, 6);
    // 0.25 steps need two decimals although their size asks for one.
    const double scaled = step * std::pow(10.0, decimals);
    const bool one_more = std::abs(scaled - std::round(scaled)) > 1e-6;
    return QString::number(tick, 'f', decimals + (one_more ? 1 : 0));
}

QString clockLabel(double seconds, double step) {
    const QDateTime when = QDateTime::fromMSecsSinceEpoch(std::llround(seconds * 1000.0));
    return when.toString(step < 60.0      ? QStringLiteral("HH:mm:ss")
                         : step < 86400.0 ? QStringLiteral("HH:mm")
                                          : QStringLiteral("d MMM"));
}

QString timeLabel(double seconds, double step) {
    if (step < 1.0 && seconds >= 0.0 && seconds < 3600.0) {
        return fineTime(seconds, step);
    }
    const bool whole_minutes = step >= 60.0 && seconds >= 60.0 && seconds < 3600.0;
    return whole_minutes
               ? QCoreApplication::translate("Duration", "%1 m").arg(std::llround(seconds / 60.0))
               : formatDuration(seconds);
}

bool crosses(const QRectF& place, const QPointF& from, const QPointF& to) {
    if (to.x() < place.left() || from.x() > place.right()) {
        return false;
    }
    const auto heightAt = [&](double x) {
        return to.x() > from.x()
                   ? from.y() + (to.y() - from.y()) * (x - from.x()) / (to.x() - from.x())
                   : to.y();
    };
    const double one = heightAt(std::max(from.x(), place.left()));
    const double other = to.x() > from.x() ? heightAt(std::min(to.x(), place.right())) : from.y();
    return std::max(one, other) >= place.top() && std::min(one, other) <= place.bottom();
}

double ChartTicker::getTickStep(const QCPRange& range) {
    int count = tickCount();
    while (count > 1 && !hasRoom(range, stepFor(range, count))) {
        --count;
    }
    double step = stepFor(range, count);
    // A number alone tells no scale.
    while (count < kMostTicks && ticksWithin(range, step) < 2 &&
           hasRoom(range, stepFor(range, count + 1))) {
        step = stepFor(range, ++count);
    }
    return step;
}

double ChartTicker::stepFor(const QCPRange& range, int count) {
    if (kind_ == Kind::Count) {
        return std::max(1.0, std::floor(cleanMantissa(range.size() / std::max(1, count))));
    }
    if (kind_ != Kind::Seconds && kind_ != Kind::Clock) {
        return cleanMantissa(range.size() / std::max(1, count));
    }
    constexpr double kSteps[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 172800};
    const double wanted = range.size() / std::max(1, count);
    for (const double step : kSteps) {
        if (step >= wanted * 0.7) {
            return step;
        }
    }
    return std::ceil(wanted / 86400.0) * 86400.0;
}

bool ChartTicker::hasRoom(const QCPRange& range, double step) const {
    if (pixels_ <= 0) {
        return true;
    }
    const QFont font = Theme::current().font(TextStyle::MonoSmall);
    const double largest = std::max(std::abs(range.lower), std::abs(range.upper));
    const double distance = step / range.size() * pixels_ - kLabelGap;
    double before = 0.0;
    for (double tick = std::ceil(range.lower / step) * step; tick <= range.upper; tick += step) {
        const double half = textWidth(font, labelOf(tick, step, largest)) / 2.0;
        if (before > 0.0 && before + half > distance) {
            return false;
        }
        before = half;
    }
    return true;
}

QVector<double> ChartTicker::createTickVector(double step, const QCPRange& range) {
    step_ = step;
    largest_ = std::max(std::abs(range.lower), std::abs(range.upper));
    if (kind_ == Kind::Logarithmic && range.lower > 0.0) {
        const QVector<double> ticks = logTicks(range, tickCount());
        if (ticks.size() >= 2) {
            step_ = 0.0;
            return ticks;
        }
    }
    return QCPAxisTicker::createTickVector(step, range);
}

QString ChartTicker::labelOf(double tick, double step, double largest) const {
    switch (kind_) {
    case Kind::Seconds: return timeLabel(tick, step);
    case Kind::Clock: return clockLabel(tick, step);
    case Kind::Linear:
    case Kind::Count:
    case Kind::Logarithmic: break;
    }
    return axisLabel(tick, step, largest);
}

QString ChartTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    if (step_ > 0.0) {
        return labelOf(tick, step_, largest_);
    }
    if (tick < 1e-2 || tick >= 1e6) {
        return scientific(tick);
    }
    return tick >= 1000.0 ? formatCount(std::llround(tick))
                          : trimmed(QString::number(tick, 'f', 4));
}

} // namespace weft::widgets
