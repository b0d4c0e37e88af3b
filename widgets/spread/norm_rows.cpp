// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/spread/norm_rows.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kNormRowGap = 16;
constexpr double kNormColumnGap = 12;
constexpr double kMostNormName = 0.36; // of the width
constexpr double kNormDot = 2.5;       // radius
constexpr double kNormCross = 3;

} // namespace

struct NormRows::Room {
    double name = 0;
    double line_left = 0;
    double line_width = 0;
    double figure = 0;
};

NormRows::NormRows(QWidget* parent) : PaintedView(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void NormRows::setRows(std::vector<NormRow> rows, std::vector<qint64> steps) {
    rows_ = std::move(rows);
    steps_ = std::move(steps);
    bool any = false;
    for (const NormRow& row : rows_) {
        for (const double value : row.values) {
            if (value > 0 && std::isfinite(value)) {
                const double log = std::log10(value);
                low_ = any ? std::min(low_, log) : log;
                high_ = any ? std::max(high_, log) : log;
                any = true;
            }
        }
    }
    setAccessibleDescription(
        tr("%1 layers over %2 steps")
            .arg(formatCount(itemCount()), formatCount(static_cast<qint64>(steps_.size()))));
    itemsChanged();
    updateGeometry();
}

double NormRows::rowHeight() const {
    return std::ceil(captionHeight()) + kNormRowGap;
}

QString NormRows::lastOf(const NormRow& row) const {
    if (row.values.empty()) {
        return "-";
    }
    return !row.bad.empty() && row.bad.back() ? tr("not finite") : formatNumber(row.values.back());
}

NormRows::Room NormRows::room(double width) const {
    const Theme& theme = Theme::current();
    Room out;
    for (const NormRow& row : rows_) {
        out.name = std::max(out.name, textWidth(theme.font(TextStyle::Caption), row.name));
        out.figure = std::max(out.figure, textWidth(theme.font(TextStyle::MonoSmall), lastOf(row)));
    }
    out.name = std::ceil(std::min(out.name, width * kMostNormName));
    out.figure = std::ceil(out.figure);
    out.line_left = out.name + kNormColumnGap;
    out.line_width = std::max(24.0, width - out.line_left - out.figure - kNormColumnGap);
    return out;
}

ViewItem NormRows::item(int index) const {
    const NormRow& row = rows_[static_cast<std::size_t>(index)];
    QStringList said;
    for (std::size_t i = 0; i < row.values.size() && i < steps_.size(); ++i) {
        const bool bad = i < row.bad.size() && row.bad[i];
        if (bad || std::isfinite(row.values[i])) {
            said << tr("step %1: %2")
                        .arg(formatCount(steps_[i]),
                             bad ? tr("not finite") : formatNumber(row.values[i]));
        }
    }
    return {QRectF(0, index * rowHeight(), width(), rowHeight()),
            tr("%1: %2").arg(row.name, lastOf(row)),
            row.name + "\n" + said.mid(std::max<qsizetype>(0, said.size() - 8)).join("\n")};
}

QSize NormRows::sizeHint() const {
    const double axis = std::ceil(captionHeight()) + 2;
    return {420, static_cast<int>(std::ceil(itemCount() * rowHeight() + axis))};
}

QSize NormRows::minimumSizeHint() const {
    return {220, sizeHint().height()};
}

void NormRows::paintLine(QPainter& painter, const NormRow& row, const QRectF& place) const {
    const Theme& theme = Theme::current();
    const double last = std::max<double>(1, static_cast<double>(steps_.size()) - 1);
    const double span = std::max(high_ - low_, 1e-9);
    const auto at = [&](std::size_t i) {
        const double share = (std::log10(row.values[i]) - low_) / span;
        const double x = steps_.size() > 1 ? place.left() + place.width() * double(i) / last
                                           : place.center().x();
        return QPointF(x,
                       high_ > low_ ? place.bottom() - place.height() * share : place.center().y());
    };
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.color(Role::Accent), 1.5));
    for (std::size_t i = 0; i < row.values.size(); ++i) {
        const bool here = row.values[i] > 0 && std::isfinite(row.values[i]);
        if (here && i > 0 && row.values[i - 1] > 0 && std::isfinite(row.values[i - 1])) {
            painter.drawLine(at(i - 1), at(i));
        } else if (here) {
            painter.setBrush(theme.color(Role::Accent));
            painter.drawEllipse(at(i), kNormDot - 1, kNormDot - 1);
        }
        if (i < row.bad.size() && row.bad[i]) {
            const double x = steps_.size() > 1 ? place.left() + place.width() * double(i) / last
                                               : place.center().x();
            const QPointF middle(x, place.center().y());
            painter.setPen(QPen(theme.color(Role::Error), 1.5));
            painter.drawLine(middle + QPointF(-kNormCross, -kNormCross),
                             middle + QPointF(kNormCross, kNormCross));
            painter.drawLine(middle + QPointF(-kNormCross, kNormCross),
                             middle + QPointF(kNormCross, -kNormCross));
            painter.setPen(QPen(theme.color(Role::Accent), 1.5));
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void NormRows::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const Room room = this->room(view_size.width());
    const double height = rowHeight();
    for (int i = 0; i < itemCount(); ++i) {
        const NormRow& row = rows_[static_cast<std::size_t>(i)];
        const QRectF line(0, i * height, view_size.width(), height);
        if (i == hoveredItem()) {
            paintSurface(painter, line, size::kRadius, theme.color(Role::Inset), {});
        }
        const bool bad = !row.bad.empty() && row.bad.back();
        paintText(painter, QRectF(0, line.top(), room.name, height),
                  Qt::AlignLeft | Qt::AlignVCenter, row.name, theme.font(TextStyle::Caption),
                  theme.color(Role::Text), Qt::ElideMiddle);
        paintLine(painter, row,
                  QRectF(room.line_left + kNormCross, line.top() + 3,
                         room.line_width - 2 * kNormCross, height - 6));
        paintText(painter, line, Qt::AlignRight | Qt::AlignVCenter, lastOf(row),
                  theme.font(TextStyle::MonoSmall), theme.color(bad ? Role::Error : Role::Muted),
                  Qt::ElideNone);
    }
    if (steps_.empty()) {
        return;
    }
    const QRectF axis(room.line_left, itemCount() * height + 2, room.line_width, captionHeight());
    const QFont font = theme.font(TextStyle::MonoSmall);
    const QColor muted = theme.color(Role::Muted);
    if (steps_.size() > 1) {
        paintText(painter, axis, Qt::AlignLeft | Qt::AlignVCenter, formatCount(steps_.front()),
                  font, muted);
        paintText(painter, axis, Qt::AlignRight | Qt::AlignVCenter,
                  tr("step %1").arg(formatCount(steps_.back())), font, muted);
    } else {
        paintText(painter, axis, Qt::AlignHCenter | Qt::AlignVCenter,
                  tr("step %1").arg(formatCount(steps_.back())), font, muted);
    }
}

} // namespace weft::widgets
