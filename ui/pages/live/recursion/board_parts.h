// SPDX-License-Identifier: GPL-3.0-or-later
// Boards as runs keep them, as the widgets show them.
#pragma once

#include "ui/bridge/run/sample_file.h"
#include "widgets/boards/board.h"
#include "widgets/boards/puzzle_list.h"

namespace weft::ui {

/// `said` with what is given set apart; cells that differ from `before` are changed, those that
/// differ from `answer` wrong. Either may be empty: then none are.
widgets::Board shownBoard(const BoardLook& look, const QString& given, const QString& said,
                          const QString& before, const QString& answer);

/// One of `boards` after a cycle.
widgets::Board boardAfter(const SaidBoards& boards, const SaidBoard& board, int cycle);

/// Cells of a board that are given.
int givenCells(const BoardLook& look, const QString& given);

widgets::PuzzleRow puzzleRow(const SaidBoards& boards, const SaidBoard& board);

/// The cycles to show beside each other, `most` of them: the first, the last at which anything
/// changed, and between them those at which most did; `chosen` is among them. In order.
std::vector<int> cyclesToShow(const SaidBoards& boards, const SaidBoard& board, int chosen,
                              int most);

} // namespace weft::ui
