// SPDX-License-Identifier: Apache-2.0
#include "core/data/puzzles/arc.h"

#include <algorithm>
#include <set>

namespace weft::data {
namespace {

constexpr std::uint8_t kArcEnd = 1;
constexpr std::uint8_t kArcFirstColour = 2;
constexpr int kArcTurns = 8;
constexpr std::int64_t kTriesOfForm = 5;
// Forms do not depend on the seed of a run, so that identifiers mean the same in all of them.
constexpr std::uint64_t kFormSeed = 0;

/// Bit i: colour i is in a grid of the task.
unsigned colours_of(const ArcTask& task) {
    unsigned out = 0;
    for (const auto* pairs : {&task.train, &task.test}) {
        for (const ArcPair& pair : *pairs) {
            for (const ArcGrid* grid : {&pair.input, &pair.output}) {
                for (const std::uint8_t cell : grid->cells) {
                    out |= 1U << cell;
                }
            }
        }
    }
    return out;
}

/// Whether rows, and whether columns, are read from their end: turns by 90, 180 and 270 degrees
/// against the clock, left and right changed, top and bottom, both diagonals.
bool turned_rows(int turn) {
    return turn == 2 || turn == 3 || turn == 5 || turn == 7;
}
bool turned_columns(int turn) {
    return turn == 1 || turn == 2 || turn == 4 || turn == 7;
}

ArcForm draw_form(SudokuDraws& draws) {
    ArcForm out;
    out.turn = static_cast<std::uint8_t>(draws.below(kArcTurns));
    const std::vector<int> order = draws.permutation(static_cast<int>(kArcColours) - 1);
    for (std::size_t i = 0; i < order.size(); ++i) {
        out.colours.at(i + 1) = static_cast<std::uint8_t>(order[i] + 1);
    }
    return out;
}

ArcGrid draw_grid(SudokuDraws& draws) {
    constexpr int kLeast = 3;
    constexpr int kMore = 8;
    ArcGrid out{.rows = kLeast + draws.below(kMore), .columns = kLeast + draws.below(kMore)};
    for (int i = 0; i < out.rows * out.columns; ++i) {
        const bool black = draws.below(2) == 0;
        out.cells.push_back(static_cast<std::uint8_t>(
            black ? 0 : 1 + draws.below(static_cast<int>(kArcColours) - 1)));
    }
    return out;
}

} // namespace

ArcGrid ArcForm::of(const ArcGrid& grid) const {
    const bool upright = turn == 1 || turn == 3 || turn >= 6; // rows become columns
    ArcGrid out{.rows = upright ? grid.columns : grid.rows,
                .columns = upright ? grid.rows : grid.columns};
    out.cells.reserve(grid.cells.size());
    for (int row = 0; row < out.rows; ++row) {
        for (int column = 0; column < out.columns; ++column) {
            int from_row = upright ? column : row;
            int from_column = upright ? row : column;
            from_row = turned_rows(turn) ? grid.rows - 1 - from_row : from_row;
            from_column = turned_columns(turn) ? grid.columns - 1 - from_column : from_column;
            out.cells.push_back(colours.at(
                grid.cells[static_cast<std::size_t>(from_row * grid.columns + from_column)]));
        }
    }
    return out;
}

ArcForm ArcForm::undone() const {
    ArcForm out;
    out.turn = turn == 1 ? 3 : turn == 3 ? 1 : turn;
    for (std::size_t colour = 0; colour < kArcColours; ++colour) {
        out.colours.at(colours.at(colour)) = static_cast<std::uint8_t>(colour);
    }
    return out;
}

std::string ArcForm::name() const {
    const ArcForm same;
    if (turn == same.turn && colours == same.colours) {
        return {};
    }
    std::string out = "t" + std::to_string(turn) + "|||";
    for (const std::uint8_t colour : colours) {
        out += std::to_string(colour);
    }
    return out;
}

std::vector<ArcForm> arc_forms(const ArcTask& task, std::int64_t more, std::uint64_t number) {
    SudokuDraws draws(RandomStream(kFormSeed, "data.arc.forms"), number);
    const unsigned used = colours_of(task);
    const auto seen_as = [&](const ArcForm& form) {
        std::string out(1, static_cast<char>(form.turn));
        for (std::size_t colour = 0; colour < kArcColours; ++colour) {
            if ((used >> colour & 1U) != 0) {
                out += static_cast<char>(form.colours.at(colour));
            }
        }
        return out;
    };
    std::vector<ArcForm> out = {ArcForm()};
    std::set<std::string> seen = {seen_as(out.front())};
    for (std::int64_t i = 0; i < kTriesOfForm * more && std::ssize(out) <= more; ++i) {
        const ArcForm form = draw_form(draws);
        if (seen.insert(seen_as(form)).second) {
            out.push_back(form);
        }
    }
    return out;
}

ArcPlace draw_place(const ArcPair& pair, SudokuDraws& draws) {
    const auto free = [](int input, int output) { return kArcSide + 1 - std::max(input, output); };
    const int row = draws.below(free(pair.input.rows, pair.output.rows));
    return {row, draws.below(free(pair.input.columns, pair.output.columns))};
}

std::vector<std::uint8_t> arc_canvas(const ArcGrid& grid, const ArcPlace& place) {
    std::vector<std::uint8_t> out(kArcCells, 0);
    const auto cell = [&](int row, int column) -> std::uint8_t& {
        return out[static_cast<std::size_t>(row * kArcSide + column)];
    };
    const int below = place.row + grid.rows;
    const int right = place.column + grid.columns;
    for (int row = 0; row < grid.rows; ++row) {
        for (int column = 0; column < grid.columns; ++column) {
            cell(place.row + row, place.column + column) = static_cast<std::uint8_t>(
                grid.cells[static_cast<std::size_t>(row * grid.columns + column)] +
                kArcFirstColour);
        }
    }
    for (int column = place.column; below < kArcSide && column < right; ++column) {
        cell(below, column) = kArcEnd;
    }
    for (int row = place.row; right < kArcSide && row < below; ++row) {
        cell(row, right) = kArcEnd;
    }
    return out;
}

ArcGrid grid_on_canvas(std::span<const std::int32_t> cells) {
    const auto colour_at = [&](int row, int column) {
        const std::int32_t cell = cells[static_cast<std::size_t>(row * kArcSide + column)];
        return cell >= kArcFirstColour && cell < kArcVocabulary ? cell - kArcFirstColour : -1;
    };
    ArcGrid out;
    int columns = kArcSide;
    for (int rows = 1; rows <= kArcSide; ++rows) {
        int free = 0;
        while (free < columns && colour_at(rows - 1, free) >= 0) {
            ++free;
        }
        columns = free;
        if (rows * columns > out.rows * out.columns) {
            out.rows = rows;
            out.columns = columns;
        }
    }
    for (int row = 0; row < out.rows; ++row) {
        for (int column = 0; column < out.columns; ++column) {
            out.cells.push_back(static_cast<std::uint8_t>(colour_at(row, column)));
        }
    }
    return out;
}

ArcTask make_arc_task(std::uint64_t seed, std::uint64_t number) {
    constexpr int kShown = 3;
    SudokuDraws draws(RandomStream(seed, "data.arc.task"), number);
    ArcTask out;
    out.name = "task " + std::to_string(number + 1);
    const ArcForm rule = draw_form(draws);
    for (int i = 0; i <= kShown; ++i) {
        ArcPair pair;
        pair.input = draw_grid(draws);
        pair.output = rule.of(pair.input);
        (i < kShown ? out.train : out.test).push_back(std::move(pair));
    }
    return out;
}

} // namespace weft::data
