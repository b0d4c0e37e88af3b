// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/look/painting.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QLocale>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::widgets {
namespace {

QPolygonF polygon(const QPointF& center, int corners, double outer, double inner, double turn) {
    QPolygonF result;
    const int count = inner > 0 ? corners * 2 : corners;
    for (int i = 0; i < count; ++i) {
        const double radius = inner > 0 && i % 2 == 1 ? inner : outer;
        const double angle = turn + 2.0 * std::numbers::pi * i / count;
        result << center + QPointF(radius * std::cos(angle), radius * std::sin(angle));
    }
    return result;
}

QString scaledUnit(double value, double base, const char* const* units, int count) {
    int unit = 0;
    while (std::abs(value) >= base && unit + 1 < count) {
        value /= base;
        ++unit;
    }
    const int decimals = unit == 0 || std::abs(value) >= 1000.0 ? 0 : 1;
    return QStringLiteral("%1 %2").arg(formatDecimals(value, decimals), QLatin1String(units[unit]));
}

constexpr double kHatchStep = 6.0;
constexpr double kDotStep = 4.0;

// Lines x + y = a multiple of the step, cut to the rectangle by arithmetic and not by a clip (SVG
// has none in Qt 6.4): neighbouring rectangles join without a seam.
void paintHatch(QPainter& painter, const QRectF& rect, const QColor& color) {
    painter.setPen(QPen(color, 1.4, Qt::SolidLine, Qt::FlatCap));
    const double first = std::ceil((rect.left() + rect.top()) / kHatchStep) * kHatchStep;
    for (double sum = first; sum < rect.right() + rect.bottom(); sum += kHatchStep) {
        const double left = std::max(rect.left(), sum - rect.bottom());
        const double right = std::min(rect.right(), sum - rect.top());
        painter.drawLine(QPointF(left, sum - left), QPointF(right, sum - right));
    }
}

void paintDots(QPainter& painter, const QRectF& rect, const QColor& color) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    for (double y = std::ceil(rect.top() / kDotStep) * kDotStep; y < rect.bottom(); y += kDotStep) {
        const double shift = std::fmod(y / kDotStep, 2.0) != 0.0 ? kDotStep / 2.0 : 0.0;
        double x = std::ceil((rect.left() - shift) / kDotStep) * kDotStep + shift;
        for (; x < rect.right(); x += kDotStep) {
            painter.drawEllipse(QPointF(x, y), 1.2, 1.2);
        }
    }
}

} // namespace

void paintSurface(QPainter& painter, const QRectF& rect, double radius, const QColor& fill,
                  const QColor& border, Qt::PenStyle style, double width) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    if (border.isValid()) {
        QPen pen(border, width, style);
        if (style == Qt::DashLine) {
            pen.setDashPattern({3.0, 3.0});
        }
        painter.setPen(pen);
    } else {
        painter.setPen(Qt::NoPen);
    }
    painter.setBrush(fill.isValid() ? QBrush(fill) : QBrush(Qt::NoBrush));
    const double half = border.isValid() ? width / 2.0 : 0.0;
    painter.drawRoundedRect(rect.adjusted(half, half, -half, -half), radius - half, radius - half);
    painter.restore();
}

void paintFocus(QPainter& painter, const QRectF& rect, double radius) {
    paintSurface(painter, rect, radius, {}, Theme::current().color(Role::Accent), Qt::SolidLine,
                 2.0);
}

void paintHairline(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& color) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    if (from.y() == to.y()) {
        painter.fillRect(QRectF(from.x(), from.y(), to.x() - from.x(), 1.0), color);
    } else {
        painter.fillRect(QRectF(from.x(), from.y(), 1.0, to.y() - from.y()), color);
    }
    painter.restore();
}

void paintText(QPainter& painter, const QRectF& rect, Qt::Alignment alignment, const QString& text,
               const QFont& font, const QColor& color, Qt::TextElideMode elide) {
    painter.setFont(font);
    painter.setPen(color);
    const QFontMetricsF metrics(font, painter.device());
    const QString shown =
        elide == Qt::ElideNone ? text : metrics.elidedText(text, elide, rect.width() + 0.5);
    // A baseline on a whole pixel keeps text as sharp here as in a label.
    double x = rect.left();
    const double width = metrics.horizontalAdvance(shown);
    if (alignment & Qt::AlignRight) {
        x = rect.right() - width;
    } else if (alignment & Qt::AlignHCenter) {
        x = rect.center().x() - width / 2.0;
    }
    double y = rect.top() + metrics.ascent();
    if (alignment & Qt::AlignVCenter) {
        y = rect.center().y() + (metrics.ascent() - metrics.descent()) / 2.0;
    } else if (alignment & Qt::AlignBottom) {
        y = rect.bottom() - metrics.descent();
    }
    painter.drawText(QPointF(std::round(x), std::round(y)), shown);
}

double textWidth(const QFont& font, const QString& text) {
    return QFontMetricsF(font).horizontalAdvance(text);
}

QColor readableOn(const QColor& fill) {
    const Theme& theme = Theme::current();
    const QColor one = theme.color(Role::Text);
    const QColor other = theme.color(Role::OnAccent);
    return contrastRatio(one, fill) >= contrastRatio(other, fill) ? one : other;
}

double tickStep(double span, double most) {
    const double raw = span / std::max(1.0, most);
    const double decade = std::pow(10.0, std::floor(std::log10(raw)));
    const double mantissa = raw / decade;
    return decade * (mantissa <= 1.0 ? 1.0 : mantissa <= 2.0 ? 2.0 : mantissa <= 5.0 ? 5.0 : 10.0);
}

double lineHeight(TextStyle style) {
    return std::ceil(QFontMetricsF(Theme::current().font(style)).height());
}

double captionHeight() {
    return QFontMetricsF(Theme::current().font(TextStyle::Caption)).height();
}

QPolygonF starPolygon(const QPointF& center, double radius) {
    return polygon(center, 5, radius, radius * 0.44, -std::numbers::pi / 2.0);
}

QPolygonF trianglePolygon(const QPointF& center, double radius) {
    return polygon(center, 3, radius, 0.0, -std::numbers::pi / 2.0);
}

QPainterPath flagPath(const QPointF& foot, double width, double height) {
    const double left = foot.x() - width / 2.0;
    const double top = foot.y() - height;
    QPainterPath path;
    path.moveTo(left, top);
    path.lineTo(left + width, top);
    path.lineTo(left + width, foot.y());
    path.lineTo(foot.x(), foot.y() - height * 0.28);
    path.lineTo(left, foot.y());
    path.closeSubpath();
    return path;
}

void paintFill(QPainter& painter, const QRectF& rect, const QColor& color, Fill fill) {
    if (fill == Fill::Solid) {
        painter.fillRect(rect, color);
        return;
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    if (fill == Fill::Hatched) {
        paintHatch(painter, rect, color);
    } else {
        paintDots(painter, rect, color);
    }
    painter.restore();
}

QString formatDecimals(double value, int decimals) {
    QLocale locale = QLocale::c();
    locale.setNumberOptions(QLocale::DefaultNumberOptions);
    QString text = locale.toString(std::abs(value), 'f', decimals);
    return value < 0 ? QStringLiteral("-") + text : text;
}

QString formatCount(qint64 value) {
    return formatDecimals(static_cast<double>(value), 0);
}

QString formatFileSize(qint64 bytes) {
    static const char* const kUnits[] = {"B", "kB", "MB", "GB", "TB"};
    return scaledUnit(static_cast<double>(bytes), 1000.0, kUnits, 5);
}

QString formatMemory(qint64 bytes) {
    static const char* const kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    return scaledUnit(static_cast<double>(bytes), 1024.0, kUnits, 5);
}

QString formatNumber(double value, int significant) {
    if (std::isnan(value)) {
        return QStringLiteral("NaN");
    }
    if (std::isinf(value)) {
        return value > 0 ? QStringLiteral("Inf") : QStringLiteral("-Inf");
    }
    if (value == 0.0) {
        return QStringLiteral("0");
    }
    const double size = std::abs(value);
    if (size < 1e-3 || size >= 1e7) {
        QString text = QString::number(value, 'e', significant - 1);
        const int e = static_cast<int>(text.indexOf(QLatin1Char('e')));
        QString mantissa = text.left(e);
        while (mantissa.contains(QLatin1Char('.')) &&
               (mantissa.endsWith(QLatin1Char('0')) || mantissa.endsWith(QLatin1Char('.')))) {
            const bool point = mantissa.endsWith(QLatin1Char('.'));
            mantissa.chop(1);
            if (point) {
                break;
            }
        }
        return mantissa + QLatin1Char('e') + QString::number(text.mid(e + 1).toInt());
    }
    const int exponent = static_cast<int>(std::floor(std::log10(size)));
    return formatDecimals(value, std::clamp(significant - 1 - exponent, 0, significant));
}

QString formatDuration(double seconds) {
    const auto whole = static_cast<qint64>(std::llround(std::max(0.0, seconds)));
    const auto two = [](qint64 value) {
        return QStringLiteral("%1").arg(value, 2, 10, QLatin1Char('0'));
    };
    if (whole == 0 && seconds > 0) {
        return QCoreApplication::translate("Duration", "< 1 s");
    }
    if (whole < 60) {
        return QCoreApplication::translate("Duration", "%1 s").arg(whole);
    }
    if (whole < 3600) {
        return QCoreApplication::translate("Duration", "%1 m %2 s")
            .arg(whole / 60)
            .arg(two(whole % 60));
    }
    if (whole < 86400 * 2) {
        return QCoreApplication::translate("Duration", "%1 h %2 m")
            .arg(whole / 3600)
            .arg(two(whole / 60 % 60));
    }
    return QCoreApplication::translate("Duration", "%1 days").arg((whole + 43200) / 86400);
}

} // namespace weft::widgets
