// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/boards/board.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kLeastLettered = 9.0; // smaller cells carry no character
constexpr double kTextShare = 0.58;    // height of a character in its cell
constexpr double kCornerShare = 0.28;  // side of the corner of a wrong cell
constexpr double kFaintestText = 0.35;

int count_cells(const Board& board, bool BoardCell::*flag) {
    return static_cast<int>(std::count_if(board.cells.begin(), board.cells.end(),
                                          [flag](const BoardCell& cell) { return cell.*flag; }));
}

QColor ground(const BoardCell& cell) {
    const Theme& theme = Theme::current();
    if (cell.kind == BoardCell::Kind::Wall) {
        return mixed(theme.color(Role::Text), theme.color(Role::Surface), cell.given ? 0.55 : 0.3);
    }
    if (cell.kind == BoardCell::Kind::Way) {
        return mixed(theme.color(cell.wrong ? Role::Error : Role::Accent),
                     theme.color(Role::Surface), cell.changed ? 0.85 : 0.6);
    }
    return theme.color(cell.changed ? Role::AccentTint : cell.given ? Role::Inset : Role::Surface);
}

void paintCellText(QPainter& painter, const QRectF& rect, const BoardCell& cell) {
    const Theme& theme = Theme::current();
    QFont font = theme.font(cell.given ? TextStyle::Strong : TextStyle::Body);
    font.setPixelSize(std::max(6, static_cast<int>(std::lround(rect.height() * kTextShare))));
    QColor color = theme.color(cell.wrong ? Role::Error : Role::Text);
    if (!cell.given && cell.strength < 1.0) {
        color = mixed(color, ground(cell), kFaintestText + (1.0 - kFaintestText) * cell.strength);
    }
    if (cell.kind != BoardCell::Kind::Symbol) {
        color = readableOn(ground(cell));
    }
    paintText(painter, rect, Qt::AlignCenter, cell.text, font, color, Qt::ElideNone);
}

void paintBoardCell(QPainter& painter, const QRectF& rect, const BoardCell& cell) {
    painter.fillRect(rect, ground(cell));
    if (rect.height() >= kLeastLettered && cell.kind == BoardCell::Kind::Symbol) {
        paintCellText(painter, rect, cell);
    } else if (cell.kind == BoardCell::Kind::Symbol && !cell.text.isEmpty()) {
        // A letter has no room: beginning and end of a way are marks.
        const double inset = rect.height() * 0.15;
        painter.fillRect(rect.adjusted(inset, inset, -inset, -inset),
                         Theme::current().color(cell.wrong ? Role::Error : Role::Success));
    }
    if (cell.wrong) {
        const double side = std::max(2.0, std::round(rect.height() * kCornerShare));
        const QPolygonF corner{rect.topRight(), rect.topRight() - QPointF(side, 0),
                               rect.topRight() + QPointF(0, side)};
        painter.setPen(Qt::NoPen);
        painter.setBrush(
            Theme::current().color(cell.kind == BoardCell::Kind::Way ? Role::Text : Role::Error));
        painter.drawPolygon(corner);
        painter.setBrush(Qt::NoBrush);
    }
}

void paintLines(QPainter& painter, const Board& board, const QRectF& all, double side) {
    const Theme& theme = Theme::current();
    const bool boxes = board.box_rows > 0 && board.box_columns > 0;
    const QColor thin = theme.color(Role::Hairline);
    const QColor thick = theme.color(Role::Muted);
    const bool fine = boxes || side >= kLeastLettered;
    for (int pass = 0; pass < 2; ++pass) { // strong lines over fine ones
        const auto line = [&](int index, int box, int last, bool down) {
            const bool strong = index == 0 || index == last || (box > 0 && index % box == 0);
            if (strong != (pass == 1) || (!strong && !fine)) {
                return;
            }
            const double at = index * side;
            const QPointF from =
                down ? QPointF(all.left() + at, all.top()) : QPointF(all.left(), all.top() + at);
            const QPointF to = down ? QPointF(all.left() + at, all.bottom())
                                    : QPointF(all.right(), all.top() + at);
            paintHairline(painter, from, to, strong ? thick : thin);
        };
        for (int column = 0; column <= board.columns; ++column) {
            line(column, board.box_columns, board.columns, true);
        }
        for (int row = 0; row <= board.rows; ++row) {
            line(row, board.box_rows, board.rows, false);
        }
    }
}

} // namespace

int Board::wrongCells() const {
    return count_cells(*this, &BoardCell::wrong);
}

int Board::changedCells() const {
    return count_cells(*this, &BoardCell::changed);
}

double boardCellSide(const Board& board, const QSizeF& available) {
    if (board.rows <= 0 || board.columns <= 0) {
        return 0.0;
    }
    return std::max(1.0, std::floor(std::min((available.width() - 1.0) / board.columns,
                                             (available.height() - 1.0) / board.rows)));
}

QRectF boardRect(const Board& board, const QPointF& origin, double cell_side) {
    return {origin, QSizeF(board.columns * cell_side, board.rows * cell_side)};
}

QRectF boardCellRect(const Board& board, const QPointF& origin, double cell_side, int cell) {
    return {origin.x() + (cell % board.columns) * cell_side,
            origin.y() + (cell / board.columns) * cell_side, cell_side, cell_side};
}

void paintBoard(QPainter& painter, const Board& board, const QPointF& origin, double cell_side,
                int selected) {
    if (board.isEmpty()) {
        return;
    }
    for (int cell = 0; cell < board.cellCount(); ++cell) {
        paintBoardCell(painter, boardCellRect(board, origin, cell_side, cell),
                       board.cells[static_cast<std::size_t>(cell)]);
    }
    paintLines(painter, board, boardRect(board, origin, cell_side), cell_side);
    if (selected >= 0 && selected < board.cellCount()) {
        paintSurface(painter,
                     boardCellRect(board, origin, cell_side, selected).adjusted(0, 0, 1, 1), 1.0,
                     {}, Theme::current().color(Role::Accent), Qt::SolidLine, 2.0);
    }
}

QString boardCellName(const Board& board, int cell) {
    const BoardCell& one = board.cells[static_cast<std::size_t>(cell)];
    const auto tr = [](const char* text) {
        return QCoreApplication::translate("weft::widgets::Board", text);
    };
    QString what =
        one.kind == BoardCell::Kind::Wall  ? tr(QT_TRANSLATE_NOOP("weft::widgets::Board", "wall"))
        : one.kind == BoardCell::Kind::Way ? tr(QT_TRANSLATE_NOOP("weft::widgets::Board", "way"))
        : one.text.isEmpty()               ? tr(QT_TRANSLATE_NOOP("weft::widgets::Board", "blank"))
                                           : one.text;
    if (one.given) {
        what = tr(QT_TRANSLATE_NOOP("weft::widgets::Board", "%1, given")).arg(what);
    }
    if (one.changed) {
        what = tr(QT_TRANSLATE_NOOP("weft::widgets::Board", "%1, changed")).arg(what);
    }
    if (one.wrong) {
        what = tr(QT_TRANSLATE_NOOP("weft::widgets::Board", "%1, wrong")).arg(what);
    }
    return tr(QT_TRANSLATE_NOOP("weft::widgets::Board", "row %1, column %2: %3"))
        .arg(cell / board.columns + 1)
        .arg(cell % board.columns + 1)
        .arg(what);
}

} // namespace weft::widgets
