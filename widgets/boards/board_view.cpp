// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/boards/board_view.h"

#include <QKeyEvent>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr int kDesignedCells = 9;

} // namespace

BoardView::BoardView(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Board"));
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(this, &PaintedView::cursorChanged, this, &BoardView::choose);
}

void BoardView::setBoard(Board board) {
    const bool same_size = board.rows == board_.rows && board.columns == board_.columns;
    board_ = std::move(board);
    if (!same_size) {
        chosen_ = -1;
        itemsChanged();
    }
    update();
}

void BoardView::setChosen(int cell) {
    setCursorItem(cell);
    choose(cell);
}

void BoardView::choose(int cell) {
    const int bounded = cell >= 0 && cell < itemCount() ? cell : -1;
    if (bounded != chosen_) {
        chosen_ = bounded;
        update();
        emit chosenChanged(chosen_);
    }
}

// The board is as large whatever its number of cells.
QSize BoardView::sizeHint() const {
    const auto side = static_cast<int>(
        std::lround(largest_cell_ * kDesignedCells * Theme::current().fontScale()) + 1);
    return {side, side};
}

int BoardView::heightForWidth(int width) const {
    const int side = std::min(width, sizeHint().width());
    return board_.columns == 0 ? side : side * board_.rows / board_.columns + 1;
}

double BoardView::cellSide(const QSizeF& view_size) const {
    return boardCellSide(board_, view_size.boundedTo(QSizeF(sizeHint())));
}

ViewItem BoardView::item(int index) const {
    return {
        boardCellRect(board_, {0, 0}, cellSide(size()), index), boardCellName(board_, index), {}};
}

int BoardView::hitTest(const QPointF& position) const {
    const double side = cellSide(size());
    if (side <= 0.0) {
        return -1;
    }
    const int column = static_cast<int>(std::floor(position.x() / side));
    const int row = static_cast<int>(std::floor(position.y() / side));
    const bool inside = column >= 0 && column < board_.columns && row >= 0 && row < board_.rows;
    return inside ? row * board_.columns + column : -1;
}

int BoardView::neighbour(int index, int key) const {
    const int column = index % std::max(1, board_.columns);
    const bool edge = (key == Qt::Key_Left && column == 0) ||
                      (key == Qt::Key_Right && column + 1 == board_.columns);
    return edge ? index : gridNeighbour(index, key, board_.columns);
}

void BoardView::keyPressEvent(QKeyEvent* event) {
    if (typed_.isEmpty()) {
        PaintedView::keyPressEvent(event);
        return;
    }
    if (event->matches(QKeySequence::Paste)) {
        emit pasted();
        return;
    }
    const QString text = event->text();
    const QChar symbol = text.isEmpty() ? QChar() : text.front();
    const bool empties = event->key() == Qt::Key_Backspace || event->key() == Qt::Key_Delete ||
                         symbol == '0' || symbol == '.' || symbol == ' ';
    const bool writes = !symbol.isNull() && typed_.contains(symbol);
    if (chosen_ < 0 || (!empties && !writes)) {
        PaintedView::keyPressEvent(event);
        return;
    }
    const int cell = chosen_;
    const bool back = event->key() == Qt::Key_Backspace;
    emit typed(cell, writes ? symbol : QChar());
    const int next = back ? cell - 1 : event->key() == Qt::Key_Delete ? cell : cell + 1;
    setCursorItem(std::clamp(next, 0, itemCount() - 1));
}

void BoardView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    paintBoard(painter, board_, {0, 0}, cellSide(view_size), chosen_);
}

} // namespace weft::widgets
