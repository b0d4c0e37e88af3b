// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/value_bars.h"

#include "widgets/maps/value_colour.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kBarAxisGap = 6;
constexpr double kMostBar = 28; // wide

} // namespace

ValueBars::ValueBars(QWidget* parent) : PaintedView(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void ValueBars::setValues(std::vector<float> values) {
    values_ = std::move(values);
    low_ = high_ = 0;
    for (const float value : values_) {
        if (std::isfinite(value)) {
            low_ = std::min(low_, value);
            high_ = std::max(high_, value);
        }
    }
    itemsChanged();
}

ValueBars::Scale ValueBars::scaleFor(const QSizeF& view_size) const {
    const QFont font = Theme::current().font(TextStyle::MonoSmall);
    const double left = std::ceil(std::max(textWidth(font, formatNumber(double(low_))),
                                           textWidth(font, formatNumber(double(high_))))) +
                        kBarAxisGap;
    const double above = std::ceil(captionHeight() / 2);
    const double width =
        std::min(view_size.width() - left, kMostBar * std::max(1.0, double(values_.size())));
    const double below = captionHeight() + kBarAxisGap;
    Scale out{QRectF(left, above, std::max(1.0, width),
                     std::max(1.0, view_size.height() - above - below)),
              double(low_), double(high_)};
    if (out.low == out.high) {
        out.high = out.low + 1;
    }
    return out;
}

QRectF ValueBars::bar(int index, const Scale& scale) const {
    const double width = scale.room.width() / std::max(1, itemCount());
    const float value = values_[static_cast<std::size_t>(index)];
    const double gap = width >= 4 ? 1 : 0;
    const double y = scale.y(std::isfinite(value) ? double(value) : scale.high);
    return QRectF(QPointF(scale.room.left() + width * index, y),
                  QPointF(scale.room.left() + width * (index + 1) - gap, scale.y(0)))
        .normalized();
}

ViewItem ValueBars::item(int index) const {
    const Scale scale = scaleFor(size());
    const double width = scale.room.width() / std::max(1, itemCount());
    return {QRectF(scale.room.left() + width * index, scale.room.top(), width, scale.room.height()),
            tr("unit %1: %2")
                .arg(QString::number(index),
                     formatNumber(double(values_[static_cast<std::size_t>(index)]))),
            {}};
}

int ValueBars::hitTest(const QPointF& position) const {
    const QRectF room = scaleFor(size()).room;
    if (values_.empty() || !room.contains(position)) {
        return -1;
    }
    const double share = (position.x() - room.left()) / room.width();
    return std::clamp(static_cast<int>(share * itemCount()), 0, itemCount() - 1);
}

void ValueBars::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (values_.empty()) {
        return;
    }
    const Theme& theme = Theme::current();
    const Scale scale = scaleFor(view_size);
    painter.fillRect(scale.room, theme.color(Role::Inset));
    painter.setRenderHint(QPainter::Antialiasing, scale.room.width() / itemCount() < 4);
    for (int i = 0; i < itemCount(); ++i) {
        const float value = values_[static_cast<std::size_t>(i)];
        QRectF shown = bar(i, scale);
        shown.setWidth(std::max(1.0, shown.width()));
        painter.fillRect(shown, valueColour(!std::isfinite(value) ? std::nan("")
                                            : value < 0           ? -1.0
                                                                  : 1.0));
        if (i == hoveredItem() || i == cursorItem()) {
            painter.fillRect(
                QRectF(shown.left(), scale.room.top(), shown.width(), scale.room.height()),
                mixed(theme.color(Role::Text), theme.color(Role::Inset), 0.25));
            painter.fillRect(shown, theme.color(Role::Text));
        }
    }
    paintHairline(painter, {scale.room.left(), scale.y(0)}, {scale.room.right(), scale.y(0)},
                  theme.color(Role::Muted));
    const QFont font = theme.font(TextStyle::MonoSmall);
    const double line = captionHeight();
    const auto name = [&](double value) {
        paintText(
            painter, QRectF(0, scale.y(value) - line / 2, scale.room.left() - kBarAxisGap, line),
            Qt::AlignRight | Qt::AlignVCenter, formatNumber(value), font, theme.color(Role::Muted));
    };
    const double apart = scale.room.height() / (scale.high - scale.low); // pixels of one
    name(0);
    if (scale.high * apart >= line) {
        name(scale.high);
    }
    if (-scale.low * apart >= line) {
        name(scale.low);
    }
    const QRectF below(scale.room.left(), scale.room.bottom() + kBarAxisGap, scale.room.width(),
                       line);
    paintText(painter, below, Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("0"), font,
              theme.color(Role::Muted));
    if (itemCount() > 1) {
        paintText(painter, below, Qt::AlignRight | Qt::AlignVCenter,
                  QString::number(itemCount() - 1), font, theme.color(Role::Muted));
    }
}

} // namespace weft::widgets
