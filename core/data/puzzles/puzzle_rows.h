// SPDX-License-Identifier: Apache-2.0
// What a row of a table of puzzles holds: question and answer as text, checked by the rules.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft::data {

enum class PuzzleKind : std::uint8_t { sudoku, maze };

/// Rows of one table: all boards are like the first.
class PuzzleRows {
public:
    virtual ~PuzzleRows() = default;
    /// A fault of a row.
    struct Fault {
        std::string text, hint; // empty: there is none
    };
    /// Appends the boards of a row as they are stored, a byte for a cell, to `inputs` and `labels`.
    virtual Fault add(const std::string& question, const std::string& answer,
                      std::vector<std::uint8_t>& inputs, std::vector<std::uint8_t>& labels) = 0;
    virtual std::int64_t cells() const = 0;
    virtual std::int64_t vocabulary() const = 0;
};

std::unique_ptr<PuzzleRows> puzzle_rows(PuzzleKind kind);

/// The side of a square board of so many cells; 0: none has as many.
std::int64_t square_side(std::int64_t cells);

} // namespace weft::data
