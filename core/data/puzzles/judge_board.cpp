// SPDX-License-Identifier: Apache-2.0
#include "core/data/puzzles/judge_board.h"

#include "core/base/check.h"
#include "core/data/puzzles/maze.h"
#include "core/data/puzzles/sudoku.h"

#include <algorithm>

namespace weft::data {
namespace {

using Solutions = BoardJudgement::Solutions;

std::string place_of_cell(const BoardForm& form, std::int64_t cell) {
    return "row " + std::to_string(cell / form.columns + 1) + ", column " +
           std::to_string(cell % form.columns + 1);
}

bool share_a_unit(const BoardForm& form, std::int64_t a, std::int64_t b) {
    const std::int64_t side = form.columns;
    const auto box = [&](std::int64_t cell) {
        return std::pair(cell / side / form.box_rows, cell % side / form.box_columns);
    };
    return a / side == b / side || a % side == b % side || box(a) == box(b);
}

void judge_sudoku(const BoardForm& form, std::span<const std::int32_t> cells, BoardJudgement& out) {
    out.clashes = clashing_cells(form, cells);
    if (!out.clashes.empty()) {
        const std::int64_t first = out.clashes.front();
        const std::int32_t digit = cells[static_cast<std::size_t>(first)];
        const auto other =
            std::find_if(out.clashes.begin() + 1, out.clashes.end(), [&](std::int64_t cell) {
                return cells[static_cast<std::size_t>(cell)] == digit &&
                       share_a_unit(form, first, cell);
            });
        out.solutions = Solutions::none;
        out.problem = std::string(1, form.symbols[static_cast<std::size_t>(digit)]) +
                      " stands at " + place_of_cell(form, first) + " and at " +
                      place_of_cell(form, *other) + ", which share a row, column or box";
        return;
    }
    const auto shape = sudoku_shape(static_cast<int>(form.columns));
    WEFT_CHECK(shape && shape->cells() == form.cells(), "a board of Sudoku");
    SudokuGrid grid;
    for (const std::int32_t cell : cells) {
        // The first digit is the class behind the blank.
        grid.push_back(static_cast<std::uint8_t>(cell <= form.blank ? 0 : cell - form.blank));
    }
    const int found = search_sudoku(*shape, grid, 2).solutions;
    out.solutions = found == 0 ? Solutions::none : found == 1 ? Solutions::one : Solutions::several;
    if (found == 0) {
        out.problem = "no solution has these digits, though none of them stands beside its like";
    }
}

MazeGrid maze_grid(std::span<const std::int32_t> cells) {
    MazeGrid out;
    for (const std::int32_t cell : cells) {
        out.push_back(static_cast<std::uint8_t>(cell));
    }
    return out;
}

MazeShape maze_shape(const BoardForm& form) {
    return {static_cast<int>(form.rows), static_cast<int>(form.columns)};
}

void judge_maze(const BoardForm& form, std::span<const std::int32_t> cells, BoardJudgement& out) {
    MazeGrid grid = maze_grid(cells);
    out.solutions = Solutions::none;
    for (const auto& [cell, name] :
         {std::pair(MazeCell::start, "S, its start"), std::pair(MazeCell::goal, "G, its goal")}) {
        const auto count = std::count(grid.begin(), grid.end(), static_cast<std::uint8_t>(cell));
        if (count != 1) {
            out.problem =
                "a maze has one " + std::string(name) + "; this one has " + std::to_string(count);
            return;
        }
    }
    // A way that is drawn already is open.
    std::replace(grid.begin(), grid.end(), static_cast<std::uint8_t>(MazeCell::way),
                 static_cast<std::uint8_t>(MazeCell::open));
    const MazeSearch found = search_maze(maze_shape(form), grid);
    if (found.length < 0) {
        out.problem = "no way leads from S to G";
        return;
    }
    out.solutions = found.single ? Solutions::one : Solutions::several;
}

} // namespace

// Of Sudoku: cells of one digit that share a row, column or box.
std::vector<std::int64_t> clashing_cells(const BoardForm& form,
                                         std::span<const std::int32_t> cells) {
    WEFT_CHECK(static_cast<std::int64_t>(cells.size()) == form.cells(), "a board has its cells");
    std::vector<std::int64_t> out;
    for (std::int64_t a = 0; form.rules == BoardForm::Rules::sudoku && a < form.cells(); ++a) {
        for (std::int64_t b = 0; b < form.cells(); ++b) {
            const std::int32_t digit = cells[static_cast<std::size_t>(a)];
            if (a != b && digit != form.blank && digit == cells[static_cast<std::size_t>(b)] &&
                share_a_unit(form, a, b)) {
                out.push_back(a);
                break;
            }
        }
    }
    return out;
}

bool is_solution(const BoardForm& form, std::span<const std::int32_t> given,
                 std::span<const std::int32_t> filled) {
    if (form.rules == BoardForm::Rules::maze) {
        return is_solved_maze(maze_shape(form), maze_grid(given), maze_grid(filled));
    }
    if (form.rules != BoardForm::Rules::sudoku) {
        return false;
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (filled[i] <= form.blank || (given[i] != form.blank && given[i] != filled[i])) {
            return false;
        }
    }
    return clashing_cells(form, filled).empty();
}

BoardJudgement judge_board(const BoardForm& form, std::span<const std::int32_t> cells) {
    WEFT_CHECK(static_cast<std::int64_t>(cells.size()) == form.cells(), "a board has its cells");
    BoardJudgement out;
    out.givens = std::count_if(cells.begin(), cells.end(),
                               [&](std::int32_t cell) { return cell != form.blank; });
    switch (form.rules) {
    case BoardForm::Rules::sudoku: judge_sudoku(form, cells, out); break;
    case BoardForm::Rules::maze: judge_maze(form, cells, out); break;
    case BoardForm::Rules::none: break;
    }
    return out;
}

} // namespace weft::data
