// SPDX-License-Identifier: Apache-2.0
#include "core/data/puzzles/puzzle_rows.h"

#include "core/base/text.h"
#include "core/data/puzzles/maze.h"
#include "core/data/puzzles/sudoku.h"

#include <algorithm>
#include <cmath>

namespace weft::data {
namespace {

constexpr std::int64_t kLargestMaze = 256; // cells of a side

std::optional<SudokuShape> shape_of_text(const std::string& text) {
    for (const int side : {4, 6, 9}) {
        if (text.size() == static_cast<std::size_t>(side * side)) {
            return sudoku_shape(side);
        }
    }
    return std::nullopt;
}

class SudokuRows final : public PuzzleRows {
public:
    Fault add(const std::string& question, const std::string& answer,
              std::vector<std::uint8_t>& inputs, std::vector<std::uint8_t>& labels) override {
        if (!begun_) {
            const auto shape = shape_of_text(question);
            if (!shape) {
                return {"a question of " + std::to_string(question.size()) + " cells",
                        "Boards have 16, 36 or 81 cells."};
            }
            shape_ = *shape;
            begun_ = true;
        }
        const auto given = parse_sudoku(shape_, question);
        const auto solved = parse_sudoku(shape_, answer);
        if (!given || !solved) {
            return no_board(given ? "answer" : "question", given ? answer : question);
        }
        if (!is_solved(shape_, *solved)) {
            return {"the answer repeats a digit, or lacks one",
                    "Every row, column and box of an answer has each digit once."};
        }
        for (std::size_t cell = 0; cell < given->size(); ++cell) {
            if ((*given)[cell] != 0 && (*given)[cell] != (*solved)[cell]) {
                return {"the answer does not have the digit of cell " + std::to_string(cell + 1) +
                            " of the question",
                        "An answer keeps what is given."};
            }
        }
        const auto store = [](const SudokuGrid& grid, std::vector<std::uint8_t>& to) {
            std::transform(grid.begin(), grid.end(), std::back_inserter(to),
                           [](std::uint8_t digit) { return static_cast<std::uint8_t>(digit + 1); });
        };
        store(*given, inputs);
        store(*solved, labels);
        return {};
    }
    std::int64_t cells() const override { return shape_.cells(); }
    std::int64_t vocabulary() const override { return shape_.side() + 2; }

private:
    Fault no_board(const std::string& what, const std::string& text) const {
        const std::string side = std::to_string(shape_.side());
        return {what + " '" + shown(text) + "' is no board of " + side + " digits",
                "A board has " + std::to_string(shape_.cells()) +
                    " cells, each a digit from 1 to " + side + " or, where it is blank, '.'."};
    }

    SudokuShape shape_;
    bool begun_ = false;
};

class MazeRows final : public PuzzleRows {
public:
    Fault add(const std::string& question, const std::string& answer,
              std::vector<std::uint8_t>& inputs, std::vector<std::uint8_t>& labels) override {
        if (shape_.cells() == 0) {
            const std::int64_t side = square_side(static_cast<std::int64_t>(question.size()));
            if (side < 2 || side > kLargestMaze) {
                return {"a question of " + std::to_string(question.size()) + " cells",
                        "Mazes are square, of at most " + std::to_string(kLargestMaze) +
                            " cells a side."};
            }
            shape_ = {static_cast<int>(side), static_cast<int>(side)};
        }
        const auto given = parse_maze(shape_, question);
        const auto solved = parse_maze(shape_, answer);
        if (!given || !solved) {
            return {
                std::string(given ? "the answer" : "the question") + " is no maze of " +
                    std::to_string(shape_.cells()) + " cells",
                "Its characters are '#' for a wall, ' ' for an open cell, S, G, and 'o' for the "
                "way in an answer."};
        }
        if (!is_solved_maze(shape_, *given, *solved)) {
            return {
                "the answer is not the question with a shortest way from its one S to its one G",
                "Mark the open cells between S and G with 'o', and nothing else."};
        }
        inputs.insert(inputs.end(), given->begin(), given->end());
        labels.insert(labels.end(), solved->begin(), solved->end());
        return {};
    }
    std::int64_t cells() const override { return shape_.cells(); }
    std::int64_t vocabulary() const override { return kMazeVocabulary; }

private:
    MazeShape shape_{0, 0};
};

} // namespace

std::unique_ptr<PuzzleRows> puzzle_rows(PuzzleKind kind) {
    if (kind == PuzzleKind::maze) {
        return std::make_unique<MazeRows>();
    }
    return std::make_unique<SudokuRows>();
}

std::int64_t square_side(std::int64_t cells) {
    const std::int64_t side = std::llround(std::sqrt(static_cast<double>(cells)));
    return side * side == cells ? side : 0;
}

} // namespace weft::data
