// SPDX-License-Identifier: Apache-2.0
// Puzzles of a file or folder, all in memory: boards and their solutions, a byte for a cell.
#pragma once

#include "core/data/dataset.h"
#include "core/data/formats/format.h"
#include "core/data/puzzles/puzzle_rows.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace weft::data {

struct PuzzleSet {
    std::int64_t cells = 0; // of a board
    std::int64_t vocabulary = 0;
    std::vector<std::uint8_t> inputs, labels; // [boards, cells]; see README.md
    std::vector<std::int64_t> groups;         // where each begins, then the number of boards
    std::vector<std::int64_t> puzzles;        // the same; empty: each board is one of its own
    std::vector<std::int32_t> kinds;          // of each board; empty: they are not told apart
    std::int64_t identifiers = 1;             // kinds that there may be, none of them included
    std::int64_t ignored = -1;                // the label that nothing is learnt from

    std::int64_t boards() const {
        return cells == 0 ? 0 : static_cast<std::int64_t>(inputs.size()) / cells;
    }
    std::span<const std::uint8_t> input(std::int64_t board) const { return row(inputs, board); }
    std::span<const std::uint8_t> label(std::int64_t board) const { return row(labels, board); }
    std::int64_t bytes() const {
        return static_cast<std::int64_t>(inputs.size() + labels.size() + 4 * kinds.size() +
                                         8 * (groups.size() + puzzles.size()));
    }

private:
    std::span<const std::uint8_t> row(const std::vector<std::uint8_t>& all,
                                      std::int64_t board) const {
        return std::span(all).subspan(static_cast<std::size_t>(board * cells),
                                      static_cast<std::size_t>(cells));
    }
};

/// Of `path` the file or folder with a part: itself for a CSV file, train.csv and test.csv, or the
/// folders train and test. Empty where there is none.
std::filesystem::path puzzle_part(const std::filesystem::path& path, Part part);

/// True for what puzzle_part finds by names, and for a CSV file whose second and third column hold
/// boards of the kind; of mazes for a folder only where it says that it holds them. Reads little.
bool looks_like_puzzles(const std::filesystem::path& path, PuzzleKind kind);

/// Whether a published folder (one of its parts) says that its boards are such.
bool describes_boards(const std::filesystem::path& folder, std::int64_t cells,
                      std::int64_t vocabulary);

/// The puzzles of a CSV file, after its header: source, question, answer, rating, by position; or
/// those of a folder as puzzle sets are published. Throws weft::Error{data} with the place.
PuzzleSet read_puzzles(const std::filesystem::path& path, const OpenContext& context,
                       PuzzleKind kind);

} // namespace weft::data
