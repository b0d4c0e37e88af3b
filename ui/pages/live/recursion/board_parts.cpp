// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/recursion/board_parts.h"

#include "widgets/look/painting.h"

#include <QObject>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr QChar kUnjudgedCell = '?';
constexpr QChar kWallCell = '#';
constexpr QChar kWayCell = 'o';

int differing(const QString& a, const QString& b) {
    int out = 0;
    for (qsizetype i = 0; i < std::min(a.size(), b.size()); ++i) {
        out += a[i] != b[i] ? 1 : 0;
    }
    return out;
}

bool solves(const QString& said, const QString& answer) {
    for (qsizetype i = 0; i < answer.size(); ++i) {
        if (answer[i] != kUnjudgedCell && answer[i] != said[i]) {
            return false;
        }
    }
    return true;
}

} // namespace

widgets::Board shownBoard(const BoardLook& look, const QString& given, const QString& said,
                          const QString& before, const QString& answer) {
    using Kind = widgets::BoardCell::Kind;
    widgets::Board out{look.rows, look.columns, look.box_rows, look.box_columns, {}};
    for (qsizetype i = 0; i < said.size(); ++i) {
        widgets::BoardCell cell;
        cell.text = said[i] == look.blank ? QString() : QString(said[i]);
        cell.kind = said[i] == kWallCell  ? Kind::Wall
                    : said[i] == kWayCell ? Kind::Way
                                          : Kind::Symbol;
        cell.given = i < given.size() && given[i] != look.blank;
        cell.changed = i < before.size() && before[i] != said[i];
        cell.wrong = i < answer.size() && answer[i] != kUnjudgedCell && answer[i] != said[i];
        out.cells.push_back(std::move(cell));
    }
    return out;
}

widgets::Board boardAfter(const SaidBoards& boards, const SaidBoard& board, int cycle) {
    return shownBoard(boards.look, board.given, board.at(cycle),
                      cycle > 0 ? board.at(cycle - 1) : QString(), board.answer);
}

int givenCells(const BoardLook& look, const QString& given) {
    return static_cast<int>(given.size() - given.count(look.blank));
}

widgets::PuzzleRow puzzleRow(const SaidBoards& boards, const SaidBoard& board) {
    widgets::PuzzleRow out;
    out.name = widgets::formatCount(board.index);
    out.note = QObject::tr("%n given", "cells of a board", givenCells(boards.look, board.given));
    for (int step = 1; step <= boards.steps; ++step) {
        out.right.push_back(solves(board.at(step * boards.cycles - 1), board.answer));
    }
    if (!out.right.back()) {
        const QString& said = board.at(boards.steps * boards.cycles - 1);
        int wrong = 0;
        for (qsizetype i = 0; i < said.size(); ++i) {
            wrong += board.answer[i] != kUnjudgedCell && board.answer[i] != said[i] ? 1 : 0;
        }
        out.outcome = QObject::tr("%n wrong", "cells of a board", wrong);
        return out;
    }
    int step = boards.steps;
    while (step > 1 && out.right[static_cast<std::size_t>(step) - 2]) {
        --step;
    }
    out.outcome = QObject::tr("in %n step(s)", nullptr, step);
    return out;
}

std::vector<int> cyclesToShow(const SaidBoards& boards, const SaidBoard& board, int chosen,
                              int most) {
    const int all = boards.steps * boards.cycles;
    const int last = std::min(all, static_cast<int>(board.cycles.size())) - 1;
    std::vector<int> by_change;
    for (int cycle = 1; cycle < last; ++cycle) {
        by_change.push_back(cycle);
    }
    std::stable_sort(by_change.begin(), by_change.end(), [&](int a, int b) {
        return differing(board.at(a), board.at(a - 1)) > differing(board.at(b), board.at(b - 1));
    });
    std::vector<int> out;
    const auto add = [&](int cycle) {
        if (std::find(out.begin(), out.end(), cycle) == out.end() &&
            static_cast<int>(out.size()) < most) {
            out.push_back(cycle);
        }
    };
    add(chosen);
    add(0);
    add(last);
    for (const int cycle : by_change) {
        add(cycle);
    }
    for (int cycle = last + 1; cycle < all; ++cycle) { // nothing changes there
        add(cycle);
    }
    std::sort(out.begin(), out.end());
    return out;
}

} // namespace weft::ui
