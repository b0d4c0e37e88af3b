// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/sparkline.h"

#include "widgets/look/painting.h"

#include <QApplication>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kSparkMark = 6.0;

} // namespace

void paintSparkline(QPainter& painter, const QRectF& rect, const SparklineData& data) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const double y : data.y) {
        if (std::isfinite(y)) {
            low = std::min(low, y);
            high = std::max(high, y);
        }
    }
    if (low > high) {
        return;
    }
    const Theme& theme = Theme::current();
    const QRectF area = rect.adjusted(kSparkMark, 4, -kSparkMark, -4);
    const double width = area.width() * std::clamp(data.share, 0.05, 1.0);
    const double count = std::max<double>(1.0, static_cast<double>(data.y.size()) - 1.0);
    const double span = high > low ? high - low : 1.0;
    const auto place = [&](std::size_t i) {
        return QPointF(area.left() + width * static_cast<double>(i) / count,
                       area.bottom() - area.height() * (data.y[i] - low) / span);
    };
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor colour = data.slot < 0 ? theme.color(Role::Muted) : theme.series(data.slot);
    painter.setPen(QPen(colour, 1.25, data.dash, Qt::RoundCap, Qt::RoundJoin));
    QPolygonF line;
    std::size_t last_finite = 0;
    for (std::size_t i = 0; i < data.y.size(); ++i) {
        if (std::isfinite(data.y[i])) {
            line << place(i);
            last_finite = i;
        } else {
            painter.drawPolyline(line);
            line.clear();
        }
    }
    painter.drawPolyline(line);
    painter.setPen(QPen(theme.color(Role::Surface), 1.0));
    if (data.failed) {
        painter.setBrush(theme.color(Role::Error));
        painter.drawPolygon(trianglePolygon(place(last_finite) + QPointF(1, 0), kSparkMark - 1.0));
    } else if (data.best && *data.best >= 0 &&
               static_cast<std::size_t>(*data.best) < data.y.size() &&
               std::isfinite(data.y[static_cast<std::size_t>(*data.best)])) {
        painter.setBrush(theme.color(Role::Accent));
        painter.drawPolygon(starPolygon(place(static_cast<std::size_t>(*data.best)), kSparkMark));
    }
    painter.restore();
}

Sparkline::Sparkline(QWidget* parent) : QWidget(parent) {}

void Sparkline::setData(const SparklineData& curve) {
    data_ = curve;
    setAccessibleName(curve.failed ? tr("Curve of a run that failed") : tr("Curve of a run"));
    update();
}

void Sparkline::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintSparkline(painter, rect(), data_);
}

SparklineDelegate::SparklineDelegate(int role, QObject* parent)
    : QStyledItemDelegate(parent), role_(role) {}

void SparklineDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const {
    QStyleOptionViewItem panel = option;
    initStyleOption(&panel, index);
    const QStyle* style = option.widget ? option.widget->style() : QApplication::style();
    style->drawPrimitive(QStyle::PE_PanelItemViewItem, &panel, painter, option.widget);
    paintSparkline(*painter, option.rect, index.data(role_).value<SparklineData>());
}

QSize SparklineDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const {
    return {112, size::kRowHeight};
}

} // namespace weft::widgets
