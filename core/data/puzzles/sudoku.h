// SPDX-License-Identifier: Apache-2.0
// Sudoku of 4, 6 or 9 digits: rules, a solver, puzzles made by number. Everything is free of state.
#pragma once

#include "core/base/philox.h"

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::data {

struct SudokuShape {
    int box_rows = 3, box_columns = 3; // cells of a box

    int side() const { return box_rows * box_columns; }
    int cells() const { return side() * side(); }
};

/// 4: boxes of 2 x 2, 6: of 2 x 3, 9: of 3 x 3. None for other numbers.
std::optional<SudokuShape> sudoku_shape(int side);

using SudokuGrid = std::vector<std::uint8_t>; // [cells] row by row; 0 is blank

/// Whole numbers by chance: those of one step of a stream, one after the other.
class SudokuDraws {
public:
    SudokuDraws(const RandomStream& stream, std::uint64_t step, std::uint64_t first = 0)
        : stream_(stream), step_(step), at_(first) {}
    int below(int bound) {
        return static_cast<int>(stream_.below(step_, at_++, static_cast<std::uint64_t>(bound)));
    }
    /// 0 .. count - 1 in any order (Fisher and Yates).
    std::vector<int> permutation(int count);

private:
    RandomStream stream_;
    std::uint64_t step_;
    std::uint64_t at_;
};

struct SudokuSearch {
    int solutions = 0;   // as far as it looked
    int guesses = 0;     // cells at which nothing followed and digits were tried
    SudokuGrid solution; // the first; empty without one
};

/// Fills what has one digit left, and digits that have one place left, and tries where there is
/// neither; ends at `most` solutions. With `draws` digits are tried in any order.
SudokuSearch search_sudoku(const SudokuShape& shape, const SudokuGrid& grid, int most,
                           SudokuDraws* draws = nullptr);

/// Whether every row, column and box has every digit.
bool is_solved(const SudokuShape& shape, std::span<const std::uint8_t> grid);

struct SudokuPuzzle {
    SudokuGrid question, answer;
    int rating = 0; // guesses until it is known that there is one solution
};

/// Puzzle `number` of a seed: a solved board, of which cells are taken away as long as there is one
/// solution. None of the givens can be spared.
SudokuPuzzle make_sudoku(const SudokuShape& shape, std::uint64_t seed, std::uint64_t number);

/// The different puzzles of a seed, one after the other.
class SudokuMaker {
public:
    SudokuMaker(const SudokuShape& shape, std::uint64_t seed) : shape_(shape), seed_(seed) {}
    /// Throws weft::Error{usage} where hardly any others can be left.
    SudokuPuzzle next();

private:
    SudokuShape shape_;
    std::uint64_t seed_;
    std::uint64_t number_ = 0;
    std::set<std::string> seen_; // questions
};

/// A change of boards that keeps the rules: transposition (where boxes are squares), other orders
/// of bands, of rows within bands, of stacks and of columns within stacks, other digits.
struct SudokuChange {
    std::vector<int> from;                 // the cell that each cell is taken from
    std::array<std::uint8_t, 10> digits{}; // what each digit becomes; a blank stays

    SudokuGrid of(std::span<const std::uint8_t> grid) const;
};
SudokuChange change_sudoku(const SudokuShape& shape, SudokuDraws& draws);

/// "53..7....": digits, '.' for a blank.
std::string sudoku_text(std::span<const std::uint8_t> grid);
/// None where the text is no board of this shape; '0' is a blank too.
std::optional<SudokuGrid> parse_sudoku(const SudokuShape& shape, std::string_view text);

} // namespace weft::data
