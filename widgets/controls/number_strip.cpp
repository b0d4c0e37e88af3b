// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/number_strip.h"

#include "widgets/look/fitting_text.h"
#include "widgets/look/painting.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QToolTip>

#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kNumberPadding = 16.0;
constexpr double kNumberTop = 8.0;
constexpr double kNumberCell = 160.0;

struct Lines {
    double caption = 0.0;
    double value = 0.0;
    double sub = 0.0;
    double height = 0.0;
};

Lines linesFor(const QFont& value_font) {
    const QFontMetricsF caption(Theme::current().font(TextStyle::Caption));
    const QFontMetricsF big(value_font);
    Lines lines;
    lines.caption = kNumberTop;
    lines.value = lines.caption + std::ceil(caption.height());
    // The line box of large type has air above and below its digits; the captions move into it.
    lines.sub = lines.value + std::ceil(big.ascent() + big.descent()) - 3.0;
    lines.height = lines.sub + std::ceil(caption.height()) + kNumberTop;
    return lines;
}

// Digits share the width of the widest one; everything else keeps its own.
double advance(const QFontMetricsF& metrics, QChar c, double digit_width) {
    return c.isDigit() ? digit_width : metrics.horizontalAdvance(c);
}

double digitWidth(const QFontMetricsF& metrics) {
    double width = 0.0;
    for (char c = '0'; c <= '9'; ++c) {
        width = std::max(width, metrics.horizontalAdvance(QLatin1Char(c)));
    }
    return width;
}

QString shownValue(const BigNumber& number) {
    return number.value.isEmpty() ? QStringLiteral("–") : number.value;
}

} // namespace

NumberStrip::NumberStrip(int count, QWidget* parent)
    : QWidget(parent), numbers_(static_cast<std::size_t>(count)) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void NumberStrip::setNumber(int index, const BigNumber& number) {
    BigNumber& shown = numbers_[static_cast<std::size_t>(index)];
    if (shown != number) {
        shown = number;
        updateAccessibleText();
        update(cellRect(index).toAlignedRect());
    }
}

void NumberStrip::setValue(int index, const QString& value, const QString& sub) {
    BigNumber& number = numbers_[static_cast<std::size_t>(index)];
    if (number.value != value || number.sub != sub) {
        number.value = value;
        number.sub = sub;
        updateAccessibleText();
        update(cellRect(index).toAlignedRect());
    }
}

const BigNumber& NumberStrip::number(int index) const {
    return numbers_[static_cast<std::size_t>(index)];
}

QRectF NumberStrip::cellRect(int index) const {
    const double left = std::round(width() * static_cast<double>(index) / count());
    const double right = std::round(width() * static_cast<double>(index + 1) / count());
    return {left, 0.0, right - left, static_cast<double>(height())};
}

// Below about 160 px a cell, at text size 1, the numbers step down, as on small windows.
QFont NumberStrip::valueFont() const {
    QFont font = Theme::current().font(TextStyle::Big);
    if (width() > 0 && width() / count() < kNumberCell * Theme::current().fontScale()) {
        font.setPointSizeF(font.pointSizeF() * 16.0 / 22.0);
    }
    return font;
}

std::vector<QRectF> NumberStrip::characterCells(int index) const {
    const QFont font = valueFont();
    const QFontMetricsF metrics(font);
    const double digit = digitWidth(metrics);
    const Lines lines = linesFor(font);
    double x = cellRect(index).left() + kNumberPadding;
    std::vector<QRectF> cells;
    for (const QChar c : shownValue(number(index))) {
        const double width = advance(metrics, c, digit);
        cells.emplace_back(x, lines.value, width, metrics.height());
        x += width;
    }
    return cells;
}

QSize NumberStrip::sizeHint() const {
    return {count() * 200, static_cast<int>(linesFor(valueFont()).height)};
}

QSize NumberStrip::minimumSizeHint() const {
    return {count() * 96, sizeHint().height()};
}

void NumberStrip::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (sizeHint().height() != height()) {
        updateGeometry(); // the numbers stepped down, or up again
    }
}

void NumberStrip::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    painter.fillRect(rect(), theme.color(Role::Surface));
    for (int i = 0; i < count(); ++i) {
        const QRectF cell = cellRect(i);
        if (event->rect().intersects(cell.toAlignedRect())) {
            paintNumber(painter, i);
        }
        if (i > 0) {
            paintHairline(painter, cell.topLeft(), cell.bottomLeft(), theme.color(Role::Hairline));
        }
    }
    paintHairline(painter, QPointF(0, height() - 1), QPointF(width(), height() - 1),
                  theme.color(Role::Hairline));
}

void NumberStrip::paintNumber(QPainter& painter, int index) const {
    const Theme& theme = Theme::current();
    const BigNumber& item = number(index);
    const QFont font = valueFont();
    const QFont caption = theme.font(TextStyle::Caption);
    const Lines lines = linesFor(font);
    const QFontMetricsF metrics(font);
    const QRectF cell = cellRect(index);
    const QRectF text = cell.adjusted(kNumberPadding, 0, -kNumberPadding / 2.0, 0);
    const double line_height = QFontMetricsF(caption).height();
    const auto line = [&](double x, double y, const QString& words, Role role) {
        paintText(painter, QRectF(x, y, text.right() - x, line_height),
                  Qt::AlignLeft | Qt::AlignTop, words, caption, theme.color(role));
    };
    line(text.left(), lines.caption, item.caption, Role::Muted);

    painter.save();
    painter.setClipRect(cell.adjusted(0, 0, -4, 0));
    painter.setFont(font);
    painter.setPen(theme.color(item.value.isEmpty() ? Role::Faint : Role::Text));
    const QString value = shownValue(item);
    const std::vector<QRectF> cells = characterCells(index);
    for (int k = 0; k < value.size(); ++k) {
        const QRectF& place = cells[static_cast<std::size_t>(k)];
        const double free = place.width() - metrics.horizontalAdvance(value[k]);
        const double baseline = std::round(place.top() + metrics.ascent() - 1.5);
        painter.drawText(QPointF(place.left() + free / 2.0, baseline), QString(value[k]));
    }
    painter.restore();

    const bool joined = !item.lead.isEmpty() && !item.sub.isEmpty();
    const QString facts =
        wholeFacts(joined ? item.lead + QStringLiteral(" · ") + item.sub : item.lead + item.sub,
                   caption, text.width());
    const qsizetype lead = item.lead.size();
    line(text.left(), lines.sub, facts.left(lead), item.lead_role);
    line(text.left() + textWidth(caption, facts.left(lead)), lines.sub, facts.mid(lead),
         Role::Muted);
}

void NumberStrip::mouseReleaseEvent(QMouseEvent* event) {
    for (int i = 0; i < count(); ++i) {
        if (cellRect(i).contains(event->position())) {
            emit numberClicked(i); // may be the end of this strip
            return;
        }
    }
}

void NumberStrip::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        updateGeometry();
    }
}

bool NumberStrip::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        for (int i = 0; i < count(); ++i) {
            if (cellRect(i).contains(help->pos()) && !number(i).tooltip.isEmpty()) {
                QToolTip::showText(help->globalPos(), number(i).tooltip, this);
                return true;
            }
        }
    }
    return QWidget::event(event);
}

void NumberStrip::updateAccessibleText() {
    QStringList parts;
    for (const BigNumber& item : numbers_) {
        if (!item.caption.isEmpty()) {
            parts.append(QStringLiteral("%1 %2").arg(item.caption, shownValue(item)));
        }
    }
    setAccessibleDescription(parts.join(QStringLiteral(", ")));
}

} // namespace weft::widgets
