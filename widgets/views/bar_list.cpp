// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/bar_list.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kRowGap = 4.0;
constexpr double kCountBarHeight = 10.0;
constexpr double kCountBarGap = 8.0;
constexpr double kMostNameShare = 0.45; // of the width; longer names are elided
constexpr double kFadedCountBar = 0.4;

} // namespace

BarList::BarList(QWidget* parent) : PaintedView(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void BarList::setBars(std::vector<CountBar> bars, const QString& unit) {
    bars_ = std::move(bars);
    unit_ = unit;
    total_ = most_ = 0;
    const CountBar* largest = nullptr;
    const CountBar* smallest = nullptr;
    for (const CountBar& bar : bars_) {
        total_ += bar.count;
        largest = largest == nullptr || bar.count > largest->count ? &bar : largest;
        smallest = smallest == nullptr || bar.count < smallest->count ? &bar : smallest;
    }
    most_ = largest == nullptr ? 0 : largest->count;
    chosen_ = -1;
    setAccessibleDescription(largest == nullptr
                                 ? QString()
                                 : tr("%1 bars, %2 %3; most are %4 with %5, fewest %6 with %7")
                                       .arg(formatCount(itemCount()), formatCount(total_), unit_,
                                            largest->name, formatCount(largest->count),
                                            smallest->name, formatCount(smallest->count)));
    itemsChanged();
}

void BarList::setChosen(int index) {
    if (index != chosen_) {
        chosen_ = index;
        update();
    }
}

double BarList::rowHeight() const {
    return std::ceil(QFontMetricsF(Theme::current().font(TextStyle::Caption)).height()) + kRowGap;
}

double BarList::rowTop(int index) const {
    return (index + (mark_ >= 0 && index >= mark_ ? 1 : 0)) * rowHeight();
}

void BarList::setMark(int bar, const QString& name) {
    mark_ = bar;
    mark_name_ = name;
    itemsChanged();
}

double BarList::nameWidth(double width) const {
    double longest = 0;
    const QFont font = Theme::current().font(TextStyle::Caption);
    for (const CountBar& bar : bars_) {
        longest = std::max(longest, textWidth(font, bar.name));
        if (longest > width * kMostNameShare) {
            return std::floor(width * kMostNameShare);
        }
    }
    return std::ceil(longest);
}

double BarList::figureWidth() const {
    return std::ceil(textWidth(Theme::current().font(TextStyle::MonoSmall), formatCount(most_)));
}

ViewItem BarList::item(int index) const {
    const CountBar& bar = bars_[static_cast<std::size_t>(index)];
    const double percent =
        total_ > 0 ? 100.0 * static_cast<double>(bar.count) / static_cast<double>(total_) : 0.0;
    const QString name =
        tr("%1: %2 %3, %4 %")
            .arg(bar.name, formatCount(bar.count), unit_, QString::number(percent, 'f', 1));
    return {QRectF(0, rowTop(index), width(), rowHeight()),
            index == chosen_ ? tr("%1, chosen").arg(name) : name,
            !choosable_        ? name
            : index == chosen_ ? name + "\n" + tr("Click to show all classes again")
                               : name + "\n" + tr("Click to show only these samples")};
}

int BarList::hitTest(const QPointF& position) const {
    const int line = static_cast<int>(std::floor(position.y() / rowHeight()));
    if (mark_ >= 0 && line == mark_) {
        return -1;
    }
    const int row = mark_ >= 0 && line > mark_ ? line - 1 : line;
    return position.x() >= 0 && position.x() < width() && position.y() >= 0 && row < itemCount()
               ? row
               : -1;
}

QSize BarList::sizeHint() const {
    return {240, static_cast<int>(std::ceil(rowTop(itemCount()))) + 2};
}

QSize BarList::minimumSizeHint() const {
    return {160, sizeHint().height()};
}

void BarList::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const double row = rowHeight();
    const double name = nameWidth(view_size.width());
    const double figure = figureWidth();
    const double left = name + kCountBarGap;
    const double room = std::max(0.0, view_size.width() - left - figure - kCountBarGap);
    for (int i = 0; i < itemCount(); ++i) {
        const CountBar& bar = bars_[static_cast<std::size_t>(i)];
        const QRectF line(0, rowTop(i), view_size.width(), row);
        const bool stands_back = chosen_ >= 0 && i != chosen_;
        if (i == hoveredItem() || i == chosen_) {
            paintSurface(painter, line, size::kRadius,
                         theme.color(i == chosen_ ? Role::AccentTint : Role::Inset), {});
        }
        paintText(painter, QRectF(4, line.top(), name, row), Qt::AlignLeft | Qt::AlignVCenter,
                  bar.name, i == chosen_ ? theme.font(TextStyle::CaptionStrong) : caption,
                  theme.color(stands_back ? Role::Muted : Role::Text));
        const double share =
            most_ > 0 ? static_cast<double>(bar.count) / static_cast<double>(most_) : 0.0;
        QRectF filled(left, std::round(line.center().y() - kCountBarHeight / 2.0), room * share,
                      kCountBarHeight);
        if (bar.count > 0) {
            filled.setWidth(std::max(1.0, filled.width())); // a single sample still shows
            const QColor color = theme.color(Role::Accent);
            paintSurface(
                painter, filled, 2.0,
                stands_back ? mixed(color, theme.color(Role::Surface), kFadedCountBar) : color, {});
        }
        paintText(
            painter, line.adjusted(0, 0, -4, 0), Qt::AlignRight | Qt::AlignVCenter,
            formatCount(bar.count), mono,
            theme.color(stands_back || bar.count > 0 || !choosable_ ? Role::Muted : Role::Warning),
            Qt::ElideNone);
    }
    if (mark_ >= 0) {
        const QRectF line(0, mark_ * row, view_size.width(), row);
        const double text = textWidth(caption, mark_name_);
        paintText(painter, line.adjusted(4, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, mark_name_,
                  caption, theme.color(Role::Muted));
        painter.setPen(QPen(theme.color(Role::Muted), 1, Qt::DashLine));
        const double middle = std::round(line.center().y()) + 0.5;
        painter.drawLine(QPointF(4 + text + kCountBarGap, middle),
                         QPointF(view_size.width() - 4, middle));
    }
}

} // namespace weft::widgets
