// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/probability_bars.h"

#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kProbabilityBar = 6.0;
constexpr double kProbabilityGap = 6.0;
constexpr double kLeastProbability = 2.0; // pixels of a share above nought

double probabilityRowHeight() {
    return lineHeight(TextStyle::Body) + 2.0 + kProbabilityBar + kProbabilityGap;
}

/// One decimal, two where one would be nought; what is too little for those is not nought either.
QString probabilityNumber(double share) {
    const double value = share * 100.0;
    if (value > 0 && value < 0.01) {
        return QStringLiteral("<0.01");
    }
    return QString::number(value, 'f', value > 0 && value < 0.1 ? 2 : 1);
}

/// The part of a round bar that lies in its beginning.
QPainterPath shared(const QRectF& whole, const QRectF& beginning) {
    QPainterPath round;
    round.addRoundedRect(whole, kProbabilityBar / 2.0, kProbabilityBar / 2.0);
    QPainterPath part;
    part.addRect(beginning);
    return round.intersected(part);
}

} // namespace

ProbabilityBars::ProbabilityBars(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Most probable classes"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ProbabilityBars::setBars(std::vector<ProbabilityBar> bars) {
    bars_ = std::move(bars);
    itemsChanged();
}

void ProbabilityBars::setRows(int rows) {
    rows_ = rows;
    itemsChanged();
}

ViewItem ProbabilityBars::item(int index) const {
    const ProbabilityBar& bar = bars_[static_cast<std::size_t>(index)];
    return {QRectF(0, index * probabilityRowHeight(), width(),
                   probabilityRowHeight() - kProbabilityGap),
            tr("%1, %2 %").arg(bar.name, probabilityNumber(bar.share)),
            {}};
}

QSize ProbabilityBars::sizeHint() const {
    return {240, static_cast<int>(probabilityRowHeight() * rows_)};
}

QSize ProbabilityBars::minimumSizeHint() const {
    return {120, sizeHint().height()};
}

void ProbabilityBars::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QFont mono = theme.font(TextStyle::MonoSmall);
    const double value_width = std::ceil(textWidth(mono, QStringLiteral("100.0 %")));
    for (int i = 0; i < itemCount(); ++i) {
        const ProbabilityBar& bar = bars_[static_cast<std::size_t>(i)];
        const double top = i * probabilityRowHeight();
        const QRectF line(0, top, view_size.width(), lineHeight(TextStyle::Body));
        paintText(painter, line.adjusted(0, 0, -value_width - 8, 0),
                  Qt::AlignLeft | Qt::AlignVCenter, bar.name,
                  theme.font(i == 0 ? TextStyle::Strong : TextStyle::Body),
                  theme.color(Role::Text));
        paintText(painter, line, Qt::AlignRight | Qt::AlignVCenter,
                  probabilityNumber(bar.share) + QStringLiteral(" %"), mono,
                  theme.color(i == 0 ? Role::Text : Role::Muted), Qt::ElideNone);
        const QRectF whole(0, line.bottom() + 2.0, view_size.width(), kProbabilityBar);
        paintSurface(painter, whole, kProbabilityBar / 2.0, theme.color(Role::EmptyBar), {});
        QRectF filled = whole;
        filled.setWidth(whole.width() * std::clamp(bar.share, 0.0, 1.0));
        const QColor color = theme.color(i == 0 ? Role::Accent : Role::Muted);
        if (filled.width() >= kProbabilityBar) {
            paintSurface(painter, filled, kProbabilityBar / 2.0, color, {});
        } else if (bar.share > 0.0) {
            filled.setWidth(std::max(kLeastProbability, filled.width()));
            painter.fillPath(shared(whole, filled), color);
        }
    }
}

} // namespace weft::widgets
