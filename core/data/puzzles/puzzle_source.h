// SPDX-License-Identifier: Apache-2.0
// Puzzles as samples: a board and its answer. Training may see each puzzle changed in every epoch.
#pragma once

#include "core/data/puzzles/puzzle_set.h"
#include "core/data/puzzles/sudoku.h"

#include <functional>

namespace weft::data {

/// What becomes of the boards of one sample, question and answer alike; both as stored.
using BoardChange = std::function<std::vector<std::uint8_t>(std::span<const std::uint8_t> board)>;

struct PuzzleSamples {
    std::string kind; // "sudoku": names the stream of chance and the fingerprint
    SampleInfo info;
    /// The change of a sample in an epoch; empty: training sees boards as they are. Takes at most
    /// 63 numbers.
    std::function<BoardChange(SudokuDraws& draws)> change = {};
};

/// Identifiers that f32 tells apart, in which the held samples of a run are kept.
inline constexpr std::int64_t kMostIdentifiers = std::int64_t{1} << 24;

/// Samples as a set with identifiers has them: the identifier of each is the first number of its
/// input.
SampleInfo told_apart(SampleInfo info, const PuzzleSet& set);

/// A sample is a board of the first puzzle of a group of the set; training sees that board of any
/// puzzle of the group, which are the same in other forms. `path` is where they come from.
std::shared_ptr<const Source> puzzle_source(PuzzleSet set, PuzzleSamples samples,
                                            std::uint64_t seed, const std::filesystem::path& path);

} // namespace weft::data
