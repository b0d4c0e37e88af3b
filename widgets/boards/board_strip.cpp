// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/boards/board_strip.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kMomentSide = 144.0; // of a board at text size 1
constexpr double kMomentGap = 14.0;
constexpr double kFrame = 3.0; // around the chosen board

} // namespace

BoardStrip::BoardStrip(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Boards cycle by cycle"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void BoardStrip::setMoments(std::vector<BoardMoment> moments) {
    moments_ = std::move(moments);
    chosen_ = chosen_ < itemCount() ? chosen_ : -1;
    itemsChanged();
}

void BoardStrip::setChosen(int index) {
    chosen_ = index;
    setCursorItem(index);
    update();
}

double BoardStrip::momentWidth() const {
    return std::round(kMomentSide * Theme::current().fontScale());
}

int BoardStrip::capacity() const {
    return std::max(
        1, static_cast<int>((width() - 2 * kFrame + kMomentGap) / (momentWidth() + kMomentGap)));
}

QSize BoardStrip::sizeHint() const {
    const auto height =
        static_cast<int>(std::ceil(2 * captionHeight() + momentWidth() + 4 * kFrame));
    return {static_cast<int>(6 * (momentWidth() + kMomentGap)), height};
}

ViewItem BoardStrip::item(int index) const {
    const BoardMoment& moment = moments_[static_cast<std::size_t>(index)];
    const double x = kFrame + index * (momentWidth() + kMomentGap);
    return {QRectF(x, 0, momentWidth(), sizeHint().height()),
            QString("%1, %2, %3").arg(moment.title, moment.state, moment.note),
            {}};
}

void BoardStrip::resizeEvent(QResizeEvent* event) {
    PaintedView::resizeEvent(event);
    emit capacityChanged();
}

void BoardStrip::paintScene(QPainter& painter, const QSizeF&) const {
    const Theme& theme = Theme::current();
    const double line = captionHeight();
    for (int i = 0; i < itemCount(); ++i) {
        const BoardMoment& moment = moments_[static_cast<std::size_t>(i)];
        const QRectF rect = item(i).rect;
        const QRectF head(rect.left(), 0, rect.width(), line);
        const QFont font = theme.font(i == chosen_ ? TextStyle::CaptionStrong : TextStyle::Caption);
        const double state = textWidth(theme.font(TextStyle::Caption), moment.state);
        paintText(painter, head.adjusted(0, 0, -state - 4, 0), Qt::AlignLeft | Qt::AlignVCenter,
                  moment.title, font, theme.color(i == chosen_ ? Role::Accent : Role::Text));
        paintText(painter, head, Qt::AlignRight | Qt::AlignVCenter, moment.state,
                  theme.font(TextStyle::Caption),
                  theme.color(moment.good ? Role::Success : Role::Error));
        const double side = boardCellSide(moment.board, {rect.width(), rect.width()});
        const QPointF origin(rect.left(), line + kFrame);
        paintBoard(painter, moment.board, origin, side);
        const QRectF board = boardRect(moment.board, origin, side);
        if (i == chosen_ || i == hoveredItem()) {
            paintSurface(painter, board.adjusted(-kFrame, -kFrame, kFrame + 1, kFrame + 1), 3.0, {},
                         theme.color(i == chosen_ ? Role::Accent : Role::Border), Qt::SolidLine,
                         i == chosen_ ? 2.0 : 1.0);
        }
        paintText(painter,
                  QRectF(rect.left(), line + rect.width() + 3 * kFrame, rect.width(), line),
                  Qt::AlignLeft | Qt::AlignVCenter, moment.note, theme.font(TextStyle::Caption),
                  theme.color(Role::Muted));
    }
}

} // namespace weft::widgets
