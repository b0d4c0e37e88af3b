// SPDX-License-Identifier: Apache-2.0
#include "core/data/puzzles/maze.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace weft::data {
namespace {

// Corridors grow from the newest cell, but for one time in so many.
constexpr std::uint64_t kBranchEvery = 8;
constexpr int kMostMazeRepeats = 10000;

constexpr auto kWall = static_cast<std::uint8_t>(MazeCell::wall);
constexpr auto kOpen = static_cast<std::uint8_t>(MazeCell::open);
constexpr auto kStart = static_cast<std::uint8_t>(MazeCell::start);
constexpr auto kGoal = static_cast<std::uint8_t>(MazeCell::goal);
constexpr auto kWay = static_cast<std::uint8_t>(MazeCell::way);

/// Numbers by chance of one maze.
class MazeDraws {
public:
    MazeDraws(std::uint64_t seed, std::uint64_t number)
        : stream_(seed, "data.maze"), number_(number) {}
    std::size_t below(std::size_t bound) {
        return static_cast<std::size_t>(
            stream_.below(number_, at_++, static_cast<std::uint64_t>(bound)));
    }

private:
    RandomStream stream_;
    std::uint64_t number_;
    std::uint64_t at_ = 0;
};

/// Cells beside a cell: up, down, left, right, where there are any.
class Beside {
public:
    Beside(const MazeShape& shape, int cell) {
        const int row = cell / shape.columns;
        const int column = cell % shape.columns;
        add(row > 0, cell - shape.columns);
        add(row + 1 < shape.rows, cell + shape.columns);
        add(column > 0, cell - 1);
        add(column + 1 < shape.columns, cell + 1);
    }
    const int* begin() const { return cells_.data(); }
    const int* end() const { return cells_.data() + count_; }

private:
    void add(bool there, int cell) {
        if (there) {
            cells_.at(count_++) = cell;
        }
    }
    std::array<int, 4> cells_{};
    std::size_t count_ = 0;
};

bool may_pass(std::uint8_t cell) {
    return cell != kWall && cell != static_cast<std::uint8_t>(MazeCell::pad);
}

/// Steps from a cell to every other; -1 where no way leads.
std::vector<int> distances(const MazeShape& shape, std::span<const std::uint8_t> grid, int from) {
    std::vector<int> out(grid.size(), -1);
    std::vector<int> reached{from};
    out[static_cast<std::size_t>(from)] = 0;
    for (std::size_t i = 0; i < reached.size(); ++i) {
        const int cell = reached[i];
        for (const int next : Beside(shape, cell)) {
            if (may_pass(grid[static_cast<std::size_t>(next)]) &&
                out[static_cast<std::size_t>(next)] < 0) {
                out[static_cast<std::size_t>(next)] = out[static_cast<std::size_t>(cell)] + 1;
                reached.push_back(next);
            }
        }
    }
    return out;
}

/// A wall becomes open where it joins exactly one open cell: what is open stays a tree.
bool joins_one(const MazeShape& shape, const MazeGrid& grid, int cell) {
    const Beside beside(shape, cell);
    return std::count_if(beside.begin(), beside.end(), [&](int next) {
               return grid[static_cast<std::size_t>(next)] == kOpen;
           }) == 1;
}

MazeGrid grown(const MazeShape& shape, MazeDraws& draws) {
    MazeGrid grid(static_cast<std::size_t>(shape.cells()), kWall);
    std::vector<int> growing{static_cast<int>(draws.below(grid.size()))};
    grid[static_cast<std::size_t>(growing.front())] = kOpen;
    while (!growing.empty()) {
        const std::size_t at =
            draws.below(kBranchEvery) == 0 ? draws.below(growing.size()) : growing.size() - 1;
        std::vector<int> free;
        for (const int next : Beside(shape, growing[at])) {
            if (grid[static_cast<std::size_t>(next)] == kWall && joins_one(shape, grid, next)) {
                free.push_back(next);
            }
        }
        if (free.empty()) {
            growing.erase(growing.begin() + static_cast<std::ptrdiff_t>(at));
            continue;
        }
        const int next = free[draws.below(free.size())];
        grid[static_cast<std::size_t>(next)] = kOpen;
        growing.push_back(next);
    }
    return grid;
}

int farthest(const std::vector<int>& steps) {
    return static_cast<int>(std::max_element(steps.begin(), steps.end()) - steps.begin());
}

int place_of(std::span<const std::uint8_t> grid, std::uint8_t cell) {
    return static_cast<int>(std::find(grid.begin(), grid.end(), cell) - grid.begin());
}

} // namespace

Maze make_maze(const MazeShape& shape, std::uint64_t seed, std::uint64_t number) {
    WEFT_CHECK(shape.rows >= 2 && shape.columns >= 2, "a maze has room for a way");
    MazeDraws draws(seed, number);
    Maze out;
    out.question = grown(shape, draws);
    const int some = place_of(out.question, kOpen);
    const int start = farthest(distances(shape, out.question, some));
    const int goal = farthest(distances(shape, out.question, start));
    out.question[static_cast<std::size_t>(start)] = kStart;
    out.question[static_cast<std::size_t>(goal)] = kGoal;
    MazeSearch found = search_maze(shape, out.question);
    out.answer = std::move(found.answer);
    out.length = found.length;
    return out;
}

Maze MazeMaker::next() {
    for (int repeats = 0; repeats < kMostMazeRepeats; ++repeats) {
        Maze maze = make_maze(shape_, seed_, number_++);
        if (seen_.insert(maze_text(maze.question)).second) {
            return maze;
        }
    }
    throw Error(ErrorKind::usage, "maze",
                "after " + format_thousands(static_cast<std::int64_t>(seen_.size())) +
                    " mazes of " + std::to_string(shape_.columns) +
                    " cells a side no other was found in " + format_thousands(kMostMazeRepeats) +
                    " attempts",
                "Make fewer, or larger ones.");
}

MazeSearch search_maze(const MazeShape& shape, std::span<const std::uint8_t> question) {
    MazeSearch out;
    const int start = place_of(question, kStart);
    const int goal = place_of(question, kGoal);
    WEFT_CHECK(start < shape.cells() && goal < shape.cells(), "a maze has a start and a goal");
    const std::vector<int> steps = distances(shape, question, goal);
    out.length = steps[static_cast<std::size_t>(start)];
    if (out.length < 0) {
        return out;
    }
    out.answer.assign(question.begin(), question.end());
    out.single = true;
    for (int cell = start; cell != goal;) {
        int next = -1;
        for (const int beside : Beside(shape, cell)) {
            if (steps[static_cast<std::size_t>(beside)] ==
                steps[static_cast<std::size_t>(cell)] - 1) {
                out.single = out.single && next < 0;
                next = next < 0 ? beside : next;
            }
        }
        cell = next;
        if (cell != goal) {
            out.answer[static_cast<std::size_t>(cell)] = kWay;
        }
    }
    return out;
}

bool is_solved_maze(const MazeShape& shape, std::span<const std::uint8_t> question,
                    std::span<const std::uint8_t> answer) {
    if (std::count(question.begin(), question.end(), kStart) != 1 ||
        std::count(question.begin(), question.end(), kGoal) != 1) {
        return false;
    }
    // Only the way itself may be walked.
    MazeGrid way(answer.begin(), answer.end());
    int length = 1;
    for (std::size_t i = 0; i < way.size(); ++i) {
        const bool walked = answer[i] == kWay;
        if (walked ? question[i] != kOpen : question[i] != answer[i]) {
            return false;
        }
        length += walked ? 1 : 0;
        way[i] = walked || answer[i] == kStart || answer[i] == kGoal ? answer[i] : kWall;
    }
    return search_maze(shape, way).length == length &&
           search_maze(shape, question).length == length;
}

MazeGrid turned_maze(const MazeShape& shape, std::span<const std::uint8_t> grid, int turn) {
    WEFT_CHECK(turn >= 0 && turn < 8 && (turn < 4 || shape.rows == shape.columns),
               "one of the eight turns");
    MazeGrid out;
    out.reserve(grid.size());
    for (int row = 0; row < shape.rows; ++row) {
        for (int column = 0; column < shape.columns; ++column) {
            int r = (turn & 1) != 0 ? shape.rows - 1 - row : row;
            int c = (turn & 2) != 0 ? shape.columns - 1 - column : column;
            if ((turn & 4) != 0) {
                std::swap(r, c);
            }
            out.push_back(grid[static_cast<std::size_t>(r * shape.columns + c)]);
        }
    }
    return out;
}

std::string maze_text(std::span<const std::uint8_t> grid) {
    std::string out;
    for (const std::uint8_t cell : grid) {
        WEFT_CHECK(cell > 0 && cell <= kMazeCharacters.size(), "a cell of a maze");
        out += kMazeCharacters[cell - 1U];
    }
    return out;
}

std::optional<MazeGrid> parse_maze(const MazeShape& shape, std::string_view text) {
    MazeGrid out;
    for (const char c : text) {
        const auto at = kMazeCharacters.find(c);
        if (at == std::string_view::npos) {
            return std::nullopt;
        }
        out.push_back(static_cast<std::uint8_t>(at + 1));
    }
    return static_cast<int>(out.size()) == shape.cells() ? std::optional(std::move(out))
                                                         : std::nullopt;
}

} // namespace weft::data
