// SPDX-License-Identifier: Apache-2.0
#include "core/data/puzzles/sudoku.h"

#include "core/base/error.h"
#include "core/base/text.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace weft::data {
namespace {

constexpr int kMostRepeats = 20'000; // one after the other

using Digits = std::uint32_t; // a bit for each: 1 is bit 0

/// A board under way, with the digits that each row, column and box has.
struct Board {
    Board(const SudokuShape& of, const SudokuGrid& grid)
        : shape(of), side(of.side()), cells(static_cast<std::size_t>(of.cells()), 0),
          used(3 * static_cast<std::size_t>(of.side()), 0) {
        for (int cell = 0; cell < of.cells(); ++cell) {
            if (const int digit = grid[static_cast<std::size_t>(cell)]; digit != 0) {
                sound = sound && (free(cell) >> (digit - 1) & 1U) != 0;
                place(cell, digit);
            }
        }
    }

    std::array<std::size_t, 3> units(int cell) const {
        const int row = cell / side;
        const int column = cell % side;
        const int box = row / shape.box_rows * shape.box_rows + column / shape.box_columns;
        return {static_cast<std::size_t>(row), static_cast<std::size_t>(side + column),
                static_cast<std::size_t>(2 * side + box)};
    }
    Digits free(int cell) const {
        Digits taken = 0;
        for (const std::size_t unit : units(cell)) {
            taken |= used[unit];
        }
        return ~taken & ((1U << side) - 1);
    }
    bool blank(int cell) const { return cells[static_cast<std::size_t>(cell)] == 0; }
    void place(int cell, int digit) {
        cells[static_cast<std::size_t>(cell)] = static_cast<std::uint8_t>(digit);
        for (const std::size_t unit : units(cell)) {
            used[unit] |= 1U << (digit - 1);
        }
    }

    SudokuShape shape;
    int side;
    SudokuGrid cells;
    std::vector<Digits> used; // [rows, columns, boxes]
    bool sound = true;        // no given repeats another
};

/// Fills cells with one digit left; false: one has none. `changed` where any was filled.
bool fill_cells(Board& board, bool& changed) {
    for (int cell = 0; cell < board.shape.cells(); ++cell) {
        if (!board.blank(cell)) {
            continue;
        }
        const Digits free = board.free(cell);
        if (free == 0) {
            return false;
        }
        if (std::has_single_bit(free)) {
            board.place(cell, std::countr_zero(free) + 1);
            changed = true;
        }
    }
    return true;
}

/// Fills the places of digits that have one left in a unit; false: one has none.
bool fill_places(Board& board, bool& changed) {
    std::vector<Digits> once(board.used.size(), 0);
    std::vector<Digits> more(board.used.size(), 0);
    for (int cell = 0; cell < board.shape.cells(); ++cell) {
        const Digits free = board.blank(cell) ? board.free(cell) : 0;
        for (const std::size_t unit : board.units(cell)) {
            more[unit] |= once[unit] & free;
            once[unit] |= free;
        }
    }
    const Digits all = (1U << board.side) - 1;
    for (std::size_t unit = 0; unit < board.used.size(); ++unit) {
        if ((once[unit] | board.used[unit]) != all) {
            return false;
        }
    }
    for (int cell = 0; cell < board.shape.cells(); ++cell) {
        if (!board.blank(cell)) {
            continue;
        }
        Digits only = 0;
        for (const std::size_t unit : board.units(cell)) {
            only |= once[unit] & ~more[unit];
        }
        only &= board.free(cell);
        if (only != 0) {
            board.place(cell, std::countr_zero(only) + 1);
            changed = true;
        }
    }
    return true;
}

bool follow(Board& board) {
    for (bool changed = true; changed;) {
        changed = false;
        if (!fill_cells(board, changed) || !fill_places(board, changed)) {
            return false;
        }
    }
    return true;
}

class Search {
public:
    Search(int most, SudokuDraws* draws) : most_(most), draws_(draws) {}

    void run(Board board) {
        if (!follow(board)) {
            return;
        }
        const int cell = narrowest(board);
        if (cell < 0) {
            if (out.solutions++ == 0) {
                out.solution = board.cells;
            }
            return;
        }
        ++out.guesses;
        for (const int digit : tried(board.free(cell), board.side)) {
            Board next = board;
            next.place(cell, digit);
            run(std::move(next));
            if (out.solutions >= most_) {
                return;
            }
        }
    }

    SudokuSearch out;

private:
    /// The blank with the fewest digits left; -1: there is none.
    static int narrowest(const Board& board) {
        int best = -1;
        int fewest = board.side + 1;
        for (int cell = 0; cell < board.shape.cells(); ++cell) {
            const int count = board.blank(cell) ? std::popcount(board.free(cell)) : fewest;
            if (count < fewest) {
                fewest = count;
                best = cell;
            }
        }
        return best;
    }

    std::vector<int> tried(Digits free, int side) const {
        std::vector<int> order(static_cast<std::size_t>(side));
        if (draws_ != nullptr) {
            order = draws_->permutation(side);
        } else {
            std::iota(order.begin(), order.end(), 0);
        }
        std::vector<int> out;
        for (const int digit : order) {
            if ((free >> digit & 1U) != 0) {
                out.push_back(digit + 1);
            }
        }
        return out;
    }

    int most_;
    SudokuDraws* draws_;
};

/// Lines in another order: groups of `each` neighbours, and those within each group.
std::vector<int> moved_lines(int groups, int each, SudokuDraws& draws) {
    std::vector<int> out;
    for (const int group : draws.permutation(groups)) {
        for (const int line : draws.permutation(each)) {
            out.push_back(group * each + line);
        }
    }
    return out;
}

} // namespace

std::optional<SudokuShape> sudoku_shape(int side) {
    switch (side) {
    case 4: return SudokuShape{2, 2};
    case 6: return SudokuShape{2, 3};
    case 9: return SudokuShape{3, 3};
    default: return std::nullopt;
    }
}

std::vector<int> SudokuDraws::permutation(int count) {
    std::vector<int> out(static_cast<std::size_t>(count));
    std::iota(out.begin(), out.end(), 0);
    for (int i = count - 1; i > 0; --i) {
        std::swap(out[static_cast<std::size_t>(i)], out[static_cast<std::size_t>(below(i + 1))]);
    }
    return out;
}

SudokuSearch search_sudoku(const SudokuShape& shape, const SudokuGrid& grid, int most,
                           SudokuDraws* draws) {
    Search search(most, draws);
    if (Board board(shape, grid); board.sound) {
        search.run(std::move(board));
    }
    return std::move(search.out);
}

bool is_solved(const SudokuShape& shape, std::span<const std::uint8_t> grid) {
    const Board board(shape, SudokuGrid(grid.begin(), grid.end()));
    const Digits all = (1U << board.side) - 1;
    return board.sound && std::all_of(board.used.begin(), board.used.end(),
                                      [&](Digits used) { return used == all; });
}

SudokuPuzzle make_sudoku(const SudokuShape& shape, std::uint64_t seed, std::uint64_t number) {
    SudokuDraws draws(RandomStream(seed, "data.sudoku.make"), number);
    SudokuPuzzle out;
    const SudokuGrid empty(static_cast<std::size_t>(shape.cells()), 0);
    out.answer = search_sudoku(shape, empty, 1, &draws).solution;
    out.question = out.answer;
    for (const int cell : draws.permutation(shape.cells())) {
        std::uint8_t& given = out.question[static_cast<std::size_t>(cell)];
        given = 0;
        if (search_sudoku(shape, out.question, 2).solutions > 1) {
            given = out.answer[static_cast<std::size_t>(cell)];
        }
    }
    out.rating = search_sudoku(shape, out.question, 2).guesses;
    return out;
}

SudokuPuzzle SudokuMaker::next() {
    for (int repeats = 0; repeats < kMostRepeats; ++repeats) {
        SudokuPuzzle puzzle = make_sudoku(shape_, seed_, number_++);
        if (seen_.insert(sudoku_text(puzzle.question)).second) {
            return puzzle;
        }
    }
    throw Error(ErrorKind::usage, "sudoku",
                "after " + format_thousands(static_cast<std::int64_t>(seen_.size())) +
                    " puzzles of " + std::to_string(shape_.side()) +
                    " digits no other was found in " + format_thousands(kMostRepeats) + " attempts",
                "Make fewer, or larger ones.");
}

SudokuGrid SudokuChange::of(std::span<const std::uint8_t> grid) const {
    SudokuGrid out;
    out.reserve(from.size());
    for (const int cell : from) {
        out.push_back(digits[grid[static_cast<std::size_t>(cell)]]);
    }
    return out;
}

SudokuChange change_sudoku(const SudokuShape& shape, SudokuDraws& draws) {
    const int side = shape.side();
    SudokuChange out;
    const std::vector<int> digits = draws.permutation(side);
    for (int digit = 1; digit <= side; ++digit) {
        out.digits.at(static_cast<std::size_t>(digit)) =
            static_cast<std::uint8_t>(digits[static_cast<std::size_t>(digit - 1)] + 1);
    }
    const bool transposed = shape.box_rows == shape.box_columns && draws.below(2) == 1;
    const std::vector<int> rows = moved_lines(side / shape.box_rows, shape.box_rows, draws);
    const std::vector<int> columns =
        moved_lines(side / shape.box_columns, shape.box_columns, draws);
    for (const int row : rows) {
        for (const int column : columns) {
            out.from.push_back(transposed ? column * side + row : row * side + column);
        }
    }
    return out;
}

std::string sudoku_text(std::span<const std::uint8_t> grid) {
    std::string out;
    for (const std::uint8_t digit : grid) {
        out += digit == 0 ? '.' : static_cast<char>('0' + digit);
    }
    return out;
}

std::optional<SudokuGrid> parse_sudoku(const SudokuShape& shape, std::string_view text) {
    if (text.size() != static_cast<std::size_t>(shape.cells())) {
        return std::nullopt;
    }
    SudokuGrid out;
    for (const char c : text) {
        const int digit = c == '.' ? 0 : c - '0';
        if (digit < 0 || digit > shape.side()) {
            return std::nullopt;
        }
        out.push_back(static_cast<std::uint8_t>(digit));
    }
    return out;
}

} // namespace weft::data
