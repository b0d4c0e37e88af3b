// SPDX-License-Identifier: GPL-3.0-or-later
// One large board: its cells by mouse and arrow keys. Where it may be written, a typed symbol goes
// into the chosen cell and the choice moves on.
#pragma once

#include "widgets/boards/board.h"
#include "widgets/views/painted_view.h"

namespace weft::widgets {

class BoardView : public PaintedView {
    Q_OBJECT
public:
    explicit BoardView(QWidget* parent = nullptr);

    void setBoard(Board board);
    const Board& board() const { return board_; }
    /// Characters that may be typed into a cell; empty: none. Backspace, Delete, 0, '.' and Space
    /// empty it.
    void setTyped(const QString& symbols) { typed_ = symbols; }
    /// The framed cell; -1: none.
    int chosen() const { return chosen_; }
    void setChosen(int cell);
    /// Of a cell of a 9 x 9 board, at text size 1.
    void setLargestCell(int pixels) { largest_cell_ = pixels; }

    int itemCount() const override { return board_.cellCount(); }
    ViewItem item(int index) const override;
    int hitTest(const QPointF& position) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {120, 120}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

signals:
    void chosenChanged(int cell);
    /// A null character empties the cell.
    void typed(int cell, QChar symbol);
    /// Ctrl+V.
    void pasted();

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    int neighbour(int index, int key) const override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    double cellSide(const QSizeF& view_size) const;
    void choose(int cell);

    Board board_;
    QString typed_;
    int chosen_ = -1;
    int largest_cell_ = 30;
};

} // namespace weft::widgets
