// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/boards/puzzle_list.h"

#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kPuzzleMargin = 12.0;
constexpr double kPuzzleGap = 8.0;
constexpr double kMostBars = 120.0;
constexpr double kWidestBar = 12.0;
constexpr double kOutcomeMark = 10.0;

void paintOutcomeMark(QPainter& painter, const QPointF& center, bool good) {
    painter.setPen(QPen(Theme::current().color(good ? Role::Success : Role::Error), 1.5));
    const double x = center.x();
    const double y = center.y();
    if (good) {
        painter.drawPolyline(
            QPolygonF{QPointF(x - 4, y), QPointF(x - 1, y + 3), QPointF(x + 4, y - 3)});
    } else {
        painter.drawLine(QPointF(x - 3, y - 3), QPointF(x + 3, y + 3));
        painter.drawLine(QPointF(x - 3, y + 3), QPointF(x + 3, y - 3));
    }
}

} // namespace

PuzzleList::PuzzleList(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Puzzles"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(this, &PaintedView::itemActivated, this, &PuzzleList::choose);
    connect(this, &PaintedView::cursorChanged, this, &PuzzleList::choose);
}

void PuzzleList::setRows(std::vector<PuzzleRow> rows) {
    rows_ = std::move(rows);
    chosen_ = std::min(chosen_, itemCount() - 1);
    itemsChanged();
}

void PuzzleList::setChosen(int row) {
    if (row != chosen_) {
        chosen_ = row;
        setCursorItem(row);
        update();
    }
}

void PuzzleList::choose(int row) {
    if (row >= 0 && row < itemCount() && row != chosen_) {
        chosen_ = row;
        update();
        emit chosenChanged(row);
    }
}

double PuzzleList::rowHeight() {
    return std::max<double>(size::kRowHeight, captionHeight() + 10.0);
}

QSize PuzzleList::sizeHint() const {
    return {300, static_cast<int>(std::ceil(rowHeight() * itemCount()))};
}

ViewItem PuzzleList::item(int index) const {
    const PuzzleRow& row = rows_[static_cast<std::size_t>(index)];
    return {QRectF(0, index * rowHeight(), width(), rowHeight()),
            row.solved() ? tr("puzzle %1, %2, solved %3").arg(row.name, row.note, row.outcome)
                         : tr("puzzle %1, %2, not solved: %3").arg(row.name, row.note, row.outcome),
            {}};
}

void PuzzleList::paintBars(QPainter& painter, const QRectF& rect, const PuzzleRow& row) const {
    const Theme& theme = Theme::current();
    const double each = std::min(kWidestBar, rect.width() / static_cast<double>(row.right.size()));
    for (std::size_t i = 0; i < row.right.size(); ++i) {
        const bool last = i + 1 == row.right.size();
        const QColor color = theme.color(row.right[i] ? Role::Success
                                         : last       ? Role::Error
                                                      : Role::Border);
        const double height = row.right[i] || last ? rect.height() : rect.height() * 0.6;
        painter.fillRect(QRectF(rect.left() + static_cast<double>(i) * each,
                                rect.center().y() - height / 2,
                                std::max(1.0, each - (each > 3.0 ? 1.5 : 0.0)), height),
                         color);
    }
}

void PuzzleList::paintScene(QPainter& painter, const QSizeF& view_size) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    double names = 0;
    double notes = 0;
    double outcomes = 0;
    for (const PuzzleRow& row : rows_) {
        names = std::max(names, textWidth(theme.font(TextStyle::MonoSmall), row.name));
        notes = std::max(notes, textWidth(theme.font(TextStyle::CaptionStrong), row.note));
        outcomes = std::max(outcomes, textWidth(caption, row.outcome));
    }
    const double height = rowHeight();
    for (int i = 0; i < itemCount(); ++i) {
        const PuzzleRow& row = rows_[static_cast<std::size_t>(i)];
        const QRectF line(0, i * height, view_size.width(), height);
        if (i == chosen_ || i == hoveredItem()) {
            painter.fillRect(line, theme.color(i == chosen_ ? Role::AccentTint : Role::Inset));
        }
        double x = kPuzzleMargin;
        paintText(painter, QRectF(x, line.top(), names + 1, height),
                  Qt::AlignRight | Qt::AlignVCenter, row.name, theme.font(TextStyle::MonoSmall),
                  theme.color(Role::Muted));
        x += names + kPuzzleGap;
        paintText(painter, QRectF(x, line.top(), notes + 1, height),
                  Qt::AlignLeft | Qt::AlignVCenter, row.note,
                  theme.font(i == chosen_ ? TextStyle::CaptionStrong : TextStyle::Caption),
                  theme.color(Role::Text));
        x += notes + kPuzzleGap;
        const double end = view_size.width() - kPuzzleMargin;
        const double mark = end - outcomes - kPuzzleGap - kOutcomeMark;
        const double bars = std::min(kMostBars, mark - kPuzzleGap - x);
        if (bars > 8.0 && !row.right.empty()) {
            paintBars(painter, QRectF(x, line.top() + 8, bars, height - 16), row);
        }
        paintOutcomeMark(painter, {mark + kOutcomeMark / 2, line.center().y()}, row.solved());
        paintText(painter, QRectF(end - outcomes - 1, line.top(), outcomes + 1, height),
                  Qt::AlignRight | Qt::AlignVCenter, row.outcome, caption,
                  theme.color(row.solved() ? Role::Text : Role::Error));
    }
}

} // namespace weft::widgets
