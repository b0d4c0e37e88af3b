// SPDX-License-Identifier: GPL-3.0-or-later
// A board of cells as plain values, and how it is painted at any size.
#pragma once

#include "widgets/look/painting.h"

#include <QString>

#include <vector>

namespace weft::widgets {

struct BoardCell {
    /// How a cell is drawn where a character would say less.
    enum class Kind : std::uint8_t { Symbol, Wall, Way };
    QString text; // empty: blank
    Kind kind = Kind::Symbol;
    bool given = false;    // bold, on a ground of its own
    bool changed = false;  // since the moment before: tinted
    bool wrong = false;    // coloured, with a corner
    double strength = 1.0; // of the text of a cell that is not given, 0 to 1
};

struct Board {
    int rows = 0, columns = 0;
    int box_rows = 0, box_columns = 0; // cells of a box; 0: there are none
    std::vector<BoardCell> cells;      // row by row

    bool isEmpty() const { return cells.empty(); }
    int cellCount() const { return static_cast<int>(cells.size()); }
    int wrongCells() const;
    int changedCells() const;
};

/// Side of a cell of a board that fits into this size, in whole pixels; 0 for an empty board.
double boardCellSide(const Board& board, const QSizeF& available);
/// Where the board lies whose first cell begins at `origin`.
QRectF boardRect(const Board& board, const QPointF& origin, double cell_side);
QRectF boardCellRect(const Board& board, const QPointF& origin, double cell_side, int cell);

/// `selected`: a framed cell, or -1.
void paintBoard(QPainter& painter, const Board& board, const QPointF& origin, double cell_side,
                int selected = -1);

/// What a screen reader says of a cell: "row 2, column 3: 7, given".
QString boardCellName(const Board& board, int cell);

} // namespace weft::widgets
