// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/boards/halting_chart.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kMostStepTicks = 3.0;
constexpr double kColumnShare = 0.68;
constexpr double kBrokenFrom = 2.5; // times the next highest column
constexpr double kWidestColumn = 72.0;

} // namespace

HaltingChart::HaltingChart(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Steps until the model stops"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void HaltingChart::setCounts(std::vector<qint64> right, std::vector<qint64> wrong) {
    right_ = std::move(right);
    wrong_ = std::move(wrong);
    wrong_.resize(right_.size());
    itemsChanged();
}

qint64 HaltingChart::total(int index) const {
    return right_[static_cast<std::size_t>(index)] + wrong_[static_cast<std::size_t>(index)];
}

double HaltingChart::mean() const {
    double steps = 0;
    double all = 0;
    for (int i = 0; i < itemCount(); ++i) {
        steps += static_cast<double>(total(i)) * (i + 1);
        all += static_cast<double>(total(i));
    }
    return all > 0 ? steps / all : 0.0;
}

// The scale is that of the second highest column where the highest would hide the others.
double HaltingChart::highest() const {
    std::vector<qint64> totals;
    for (int i = 0; i < itemCount(); ++i) {
        totals.push_back(total(i));
    }
    std::sort(totals.begin(), totals.end(), std::greater<>());
    if (totals.empty() || totals[0] == 0) {
        return 1.0;
    }
    const auto most = static_cast<double>(totals[0]);
    const double next = totals.size() > 1 ? static_cast<double>(totals[1]) : 0.0;
    return next > 0 && most > kBrokenFrom * next ? next * 1.6 : most;
}

QRectF HaltingChart::plotFor(const QSizeF& view_size) const {
    const double left = textWidth(Theme::current().font(TextStyle::MonoSmall),
                                  formatCount(static_cast<qint64>(highest()))) +
                        8.0;
    const double line = captionHeight();
    return {left, line + 4.0, view_size.width() - left - 4.0, view_size.height() - 2 * line - 8.0};
}

ViewItem HaltingChart::item(int index) const {
    const QRectF plot = plotFor(size());
    const double each = plot.width() / std::max(1, itemCount());
    return {
        QRectF(plot.left() + index * each, 0, each, height()),
        tr("step %1: %2 stop, %3 of them solved")
            .arg(index + 1)
            .arg(formatCount(total(index)), formatCount(right_[static_cast<std::size_t>(index)])),
        {}};
}

void HaltingChart::paintColumn(QPainter& painter, const QRectF& plot, int index) const {
    const Theme& theme = Theme::current();
    const double each = plot.width() / itemCount();
    const double width = std::min(kWidestColumn, std::floor(each * kColumnShare));
    const double x = std::floor(plot.left() + index * each + (each - width) / 2);
    const auto heightOf = [&](double count) { return plot.height() * count / highest(); };
    const auto count = static_cast<double>(total(index));
    const bool broken = heightOf(count) > plot.height();
    const double whole = std::min(plot.height(), heightOf(count));
    const double right =
        count > 0 ? whole * static_cast<double>(right_[static_cast<std::size_t>(index)]) / count
                  : 0.0;
    const QRectF column(x, plot.bottom() - whole, width, whole);
    painter.fillRect(QRectF(x, plot.bottom() - right, width, right), theme.color(Role::Accent));
    paintFill(painter, QRectF(x, column.top(), width, whole - right), theme.color(Role::Muted),
              Fill::Hatched);
    if (index == hoveredItem()) {
        paintSurface(painter, column.adjusted(-1, -1, 1, 0), 1.0, {}, theme.color(Role::Text));
    }
    if (broken) {
        painter.setPen(QPen(theme.color(Role::Surface), 4.0));
        painter.drawLine(QPointF(x - 2, plot.top() + 16), QPointF(x + width + 2, plot.top() + 10));
    }
    if (count > 0) {
        const QFont font = theme.font(TextStyle::MonoSmall);
        const QString text = formatCount(total(index));
        if (textWidth(font, text) <= each) {
            paintText(painter,
                      QRectF(x - each, column.top() - captionHeight() - 1, width + 2 * each,
                             captionHeight()),
                      Qt::AlignCenter, text, font, theme.color(Role::Text), Qt::ElideNone);
        }
    }
}

void HaltingChart::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (right_.empty()) {
        return;
    }
    const Theme& theme = Theme::current();
    const QFont font = theme.font(TextStyle::MonoSmall);
    const QRectF plot = plotFor(view_size);
    const double tick = std::max(1.0, tickStep(highest(), kMostStepTicks));
    for (double value = 0; value <= highest(); value += tick) {
        const double y = std::round(plot.bottom() - plot.height() * value / highest());
        paintHairline(painter, {plot.left(), y}, {plot.right(), y},
                      theme.color(value > 0 ? Role::Hairline : Role::Border));
        paintText(painter, QRectF(0, y - captionHeight() / 2, plot.left() - 6.0, captionHeight()),
                  Qt::AlignRight | Qt::AlignVCenter, formatCount(static_cast<qint64>(value)), font,
                  theme.color(Role::Muted), Qt::ElideNone);
    }
    const double each = plot.width() / itemCount();
    const double room = textWidth(font, QString::number(itemCount())) + 6.0;
    const int every = std::max(1, static_cast<int>(std::ceil(room / each)));
    for (int i = 0; i < itemCount(); ++i) {
        paintColumn(painter, plot, i);
        if ((i + 1) % every == 0 || every == 1) {
            paintText(painter,
                      QRectF(plot.left() + i * each, plot.bottom() + 2, each, captionHeight()),
                      Qt::AlignCenter, QString::number(i + 1), font, theme.color(Role::Muted),
                      Qt::ElideNone);
        }
    }
}

} // namespace weft::widgets
