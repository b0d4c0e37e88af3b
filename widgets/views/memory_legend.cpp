// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/memory_legend.h"

#include "widgets/look/painting.h"

#include <QEvent>
#include <QPainter>

#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kWordGap = 6.0;   // between square and word
constexpr double kNextWord = 14.0; // to the next square

} // namespace

MemoryLegend::MemoryLegend(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Memory by category"));
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void MemoryLegend::setCategories(std::vector<MemoryCategory> categories) {
    if (categories == categories_) {
        return;
    }
    categories_ = std::move(categories);
    QStringList words;
    for (const MemoryCategory category : categories_) {
        words << memoryName(category);
    }
    setAccessibleDescription(words.join(", "));
    updateGeometry();
    update();
}

std::vector<QRectF> MemoryLegend::places(double width) const {
    const QFont font = Theme::current().font(TextStyle::Caption);
    const double line = std::ceil(QFontMetricsF(font).height()) + 2.0;
    std::vector<QRectF> out;
    double x = 0;
    double y = 0;
    for (const MemoryCategory category : categories_) {
        const double own = kSwatch + kWordGap + std::ceil(textWidth(font, memoryName(category)));
        if (x > 0 && x + own > width) {
            x = 0;
            y += line;
        }
        out.emplace_back(x, y, own, line);
        x += own + kNextWord;
    }
    return out;
}

int MemoryLegend::heightForWidth(int width) const {
    const std::vector<QRectF> all = places(width);
    return all.empty() ? 0 : static_cast<int>(std::ceil(all.back().bottom()));
}

void MemoryLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = Theme::current();
    const std::vector<QRectF> all = places(width());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const QRectF& place = all[i];
        const QRectF swatch(place.left(), std::round(place.center().y() - kSwatch / 2.0), kSwatch,
                            kSwatch);
        paintFill(painter, swatch, theme.memory(categories_[i]), memoryFill(categories_[i]));
        paintText(painter, place.adjusted(kSwatch + kWordGap, 0, 0, 0),
                  Qt::AlignLeft | Qt::AlignVCenter, memoryName(categories_[i]),
                  theme.font(TextStyle::Caption), theme.color(Role::Muted), Qt::ElideNone);
    }
}

void MemoryLegend::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        updateGeometry();
    }
    update();
}

} // namespace weft::widgets
