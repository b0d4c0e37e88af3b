// SPDX-License-Identifier: Apache-2.0
// Mazes on a grid: walls, ways, and one way from a start to a goal; made by number. Everything is
// free of state.
#pragma once

#include "core/base/philox.h"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::data {

struct MazeShape {
    int rows = 30, columns = 30;

    int cells() const { return rows * columns; }
};

/// Cells as published mazes number them: "# SGo" from 1 on, 0 pads (TinyRecursiveModels,
/// dataset/build_maze_dataset.py).
enum class MazeCell : std::uint8_t { pad, wall, open, start, goal, way };
inline constexpr std::int64_t kMazeVocabulary = 6;
inline constexpr std::string_view kMazeCharacters = "# SGo"; // of files

using MazeGrid = std::vector<std::uint8_t>; // [cells] row by row, of MazeCell

struct Maze {
    MazeGrid question; // without the way
    MazeGrid answer;
    int length = 0; // steps of the way
};

/// Maze `number` of a seed. Its ways form a tree, so that one way alone leads from start to goal;
/// those are two ends that are as far apart as any from a first one.
Maze make_maze(const MazeShape& shape, std::uint64_t seed, std::uint64_t number);

/// The different mazes of a seed, one after the other.
class MazeMaker {
public:
    MazeMaker(const MazeShape& shape, std::uint64_t seed) : shape_(shape), seed_(seed) {}
    /// Throws weft::Error{usage} where hardly any others can be left.
    Maze next();

private:
    MazeShape shape_;
    std::uint64_t seed_;
    std::uint64_t number_ = 0;
    std::set<std::string> seen_; // questions
};

struct MazeSearch {
    int length = -1;     // steps of the shortest way; -1: there is none
    bool single = false; // no other way is as short
    MazeGrid answer;     // with one of the shortest; empty without one
};
/// By breadth-first search. The question has one start and one goal.
MazeSearch search_maze(const MazeShape& shape, std::span<const std::uint8_t> question);

/// Whether `answer` is `question` with a way of open cells from start to goal that is as short as
/// any, and nothing else.
bool is_solved_maze(const MazeShape& shape, std::span<const std::uint8_t> question,
                    std::span<const std::uint8_t> answer);

/// One of the eight ways to turn and mirror a board; `turn` from 0 to 7, 0 changes nothing. The
/// sides of the board are equal, or `turn` is below 4 (which keep rows rows).
MazeGrid turned_maze(const MazeShape& shape, std::span<const std::uint8_t> grid, int turn);

/// As files have it: "#S o".
std::string maze_text(std::span<const std::uint8_t> grid);
/// None where the text is no board of this shape.
std::optional<MazeGrid> parse_maze(const MazeShape& shape, std::string_view text);

} // namespace weft::data
