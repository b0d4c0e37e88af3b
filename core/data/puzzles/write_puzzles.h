// SPDX-License-Identifier: Apache-2.0
// Puzzles into files, for the formats sudoku and maze and for other programs.
#pragma once

#include "core/data/dataset.h"
#include "core/data/puzzles/puzzle_rows.h"

#include <cstdint>
#include <filesystem>

namespace weft::data {

struct PuzzleOrder {
    PuzzleKind kind = PuzzleKind::sudoku;
    int side = 9; // of sudoku 4, 6 or 9; of mazes cells of a side
    std::int64_t train = 1000;
    std::int64_t test = 1000; // may be none
    std::uint64_t seed = 0;
    /// Tables train.csv and test.csv, or the published layout: folders train and test of
    /// dataset.json and all__*.npy.
    enum class Layout : std::uint8_t { csv, npy };
    Layout layout = Layout::csv;
};

/// Writes different puzzles of one solution each to the new folder `to`; those of the test part are
/// none of training. The same order gives the same files. `context.on_opening` hears how far it is.
/// Throws weft::Error{usage} where `to` is there already, or there are not so many different
/// puzzles to be found; {runtime} for a disk that is too small, or once `context.stop` is asked.
void write_puzzles(const PuzzleOrder& order, const OpenContext& context,
                   const std::filesystem::path& to);

} // namespace weft::data
