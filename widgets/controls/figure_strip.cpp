// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/figure_strip.h"

#include "widgets/look/painting.h"

#include <QEvent>
#include <QHelpEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr int kFigurePadding = 10;

constexpr double kLeastFigureWidth = 40;

/// Of a figure with the space around it.
int widthOf(const Figure& figure) {
    const Theme& theme = Theme::current();
    const double text =
        std::max({kLeastFigureWidth, textWidth(theme.font(TextStyle::Mono), figure.value),
                  textWidth(theme.font(TextStyle::Caption), figure.caption)});
    return static_cast<int>(std::ceil(text)) + 2 * kFigurePadding;
}

int widest(const std::vector<Figure>& figures) {
    int width = static_cast<int>(kLeastFigureWidth) + 2 * kFigurePadding;
    for (const Figure& figure : figures) {
        width = std::max(width, widthOf(figure));
    }
    return width;
}

int together(const std::vector<Figure>& figures) {
    int width = 0;
    for (const Figure& figure : figures) {
        width += widthOf(figure);
    }
    return width;
}

int figureLineHeight(TextStyle style) {
    return QFontMetrics(Theme::current().font(style)).height();
}

int figureRowHeight() {
    return figureLineHeight(TextStyle::Mono) + figureLineHeight(TextStyle::Caption) + 3 + 2 * 7;
}

} // namespace

FigureStrip::FigureStrip(QWidget* parent) : QWidget(parent) {
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void FigureStrip::setFigures(const std::vector<Figure>& figures) {
    if (figures == figures_) {
        return;
    }
    figures_ = figures;
    QStringList words;
    for (const Figure& figure : figures_) {
        words.append(figure.value + " " + figure.caption);
    }
    setAccessibleDescription(words.join(", "));
    updateGeometry();
    update();
}

void FigureStrip::setStale(bool stale) {
    if (stale != stale_) {
        stale_ = stale;
        update();
    }
}

/// All on one line, or lines of equal length.
int FigureStrip::columnsIn(int width) const {
    const int count = std::max(1, static_cast<int>(figures_.size()));
    if (together(figures_) <= width) {
        return count;
    }
    const int fit = std::clamp(width / widest(figures_), 1, count);
    const int lines = (count + fit - 1) / fit;
    return (count + lines - 1) / lines;
}

int FigureStrip::heightForWidth(int width) const {
    const int columns = columnsIn(width);
    const int count = std::max(1, static_cast<int>(figures_.size()));
    return figureRowHeight() * ((count + columns - 1) / columns);
}

QSize FigureStrip::sizeHint() const {
    return {std::max(together(figures_), widest(figures_)), figureRowHeight()};
}

QSize FigureStrip::minimumSizeHint() const {
    return {widest(figures_), figureRowHeight()};
}

QRectF FigureStrip::cell(int index) const {
    const int columns = columnsIn(width());
    if (columns == static_cast<int>(figures_.size()) && together(figures_) <= width()) {
        const int share = (width() - together(figures_)) / columns; // of what is left
        int left = 0;
        for (int i = 0; i < index; ++i) {
            left += widthOf(figures_[static_cast<std::size_t>(i)]) + share;
        }
        const int right = index + 1 == columns
                              ? width()
                              : left + widthOf(figures_[static_cast<std::size_t>(index)]) + share;
        return {static_cast<double>(left), 0.0, static_cast<double>(right - left),
                static_cast<double>(figureRowHeight())};
    }
    const double cell_width = static_cast<double>(width()) / columns;
    return {cell_width * (index % columns),
            static_cast<double>(figureRowHeight()) * (index / columns), cell_width,
            static_cast<double>(figureRowHeight())};
}

void FigureStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = Theme::current();
    paintSurface(painter, rect(), size::kRadius, theme.color(Role::Inset), QColor());
    for (int i = 0; i < static_cast<int>(figures_.size()); ++i) {
        const Figure& figure = figures_[static_cast<std::size_t>(i)];
        const QRectF place = cell(i);
        if (place.left() > 1) {
            paintHairline(painter, place.topLeft(), place.bottomLeft(),
                          theme.color(Role::Hairline));
        }
        const double value_height = figureLineHeight(TextStyle::Mono);
        paintText(painter,
                  QRectF(place.left() + kFigurePadding, place.top() + 7,
                         place.width() - kFigurePadding - 2, value_height),
                  Qt::AlignLeft | Qt::AlignVCenter,
                  figure.value.isEmpty() ? QStringLiteral("–") : figure.value,
                  theme.font(TextStyle::Mono), theme.color(stale_ ? Role::Muted : Role::Text));
        paintText(painter,
                  QRectF(place.left() + kFigurePadding, place.top() + 10 + value_height,
                         place.width() - kFigurePadding - 2, figureLineHeight(TextStyle::Caption)),
                  Qt::AlignLeft | Qt::AlignVCenter, figure.caption, theme.font(TextStyle::Caption),
                  theme.color(Role::Muted));
    }
}

void FigureStrip::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        updateGeometry();
        update();
    }
}

bool FigureStrip::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        for (int i = 0; i < static_cast<int>(figures_.size()); ++i) {
            if (cell(i).contains(help->pos())) {
                QToolTip::showText(help->globalPos(), figures_[static_cast<std::size_t>(i)].tooltip,
                                   this);
                return true;
            }
        }
    }
    return QWidget::event(event);
}

} // namespace weft::widgets
