// SPDX-License-Identifier: Apache-2.0
// Sudoku puzzles into files, for the format sudoku and for other programs.
#pragma once

#include "core/data/dataset.h"

#include <cstdint>
#include <filesystem>

namespace weft::data {

struct SudokuOrder {
    int side = 9; // 4, 6 or 9
    std::int64_t train = 1000;
    std::int64_t test = 1000; // may be none
    std::uint64_t seed = 0;
    /// Tables train.csv and test.csv, or the published layout: folders train and test of
    /// dataset.json and all__*.npy.
    enum class Layout : std::uint8_t { csv, npy };
    Layout layout = Layout::csv;
};

/// Writes different puzzles of one solution to the new folder `to`; those of the test part are none
/// of training. The same order gives the same files. `context.on_opening` hears how far it is.
/// Throws weft::Error{usage} where `to` is there already, or there are not so many different
/// puzzles to be found; {runtime} for a disk that is too small, or once `context.stop` is asked.
void write_sudoku(const SudokuOrder& order, const OpenContext& context,
                  const std::filesystem::path& to);

} // namespace weft::data
