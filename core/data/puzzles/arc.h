// SPDX-License-Identifier: Apache-2.0
// Tasks of the Abstraction and Reasoning Corpus (Chollet 2019): pairs of grids of ten colours that
// follow one rule, which the first pairs show. Everything is free of state. The canvas, the numbers
// of cells and what is changed are those of TinyRecursiveModels, dataset/build_arc_dataset.py.
#pragma once

#include "core/data/puzzles/sudoku.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::data {

inline constexpr int kArcSide = 30; // of a canvas, and the most of a grid
inline constexpr std::int64_t kArcCells = std::int64_t{kArcSide} * kArcSide;
inline constexpr std::int64_t kArcVocabulary = 12; // pad, end of a grid, colours 0 to 9 from 2 on
inline constexpr std::size_t kArcColours = 10;

struct ArcGrid {
    int rows = 0, columns = 0;            // from 1 to 30; 0: there is no grid
    std::vector<std::uint8_t> cells = {}; // colours, row by row

    friend bool operator==(const ArcGrid&, const ArcGrid&) = default;
};

struct ArcPair {
    ArcGrid input, output; // no output where nobody says which
};

struct ArcTask {
    std::string name;
    std::vector<ArcPair> train, test;
    bool judged = true; // its test pairs are for the test, not for training
};

/// One of the eight ways to turn and mirror a grid, numbered as published, and what each colour
/// becomes; black stays.
struct ArcForm {
    std::uint8_t turn = 0;
    std::array<std::uint8_t, kArcColours> colours = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

    ArcGrid of(const ArcGrid& grid) const;
    /// The form that undoes this one.
    ArcForm undone() const;
    /// "t3|||0412356789", as published sets name them; empty for the form that changes nothing.
    std::string name() const;
};

/// The task as it is, then at most `more` other forms that differ in its turn or in a colour that
/// the task has: what five times as many tries find. By chance that hangs on `number` alone.
std::vector<ArcForm> arc_forms(const ArcTask& task, std::int64_t more, std::uint64_t number);

/// Where a pair lies on its canvas.
struct ArcPlace {
    int row = 0, column = 0;
};
/// Cells that both grids of a pair leave free at the end, by chance.
ArcPlace draw_place(const ArcPair& pair, SudokuDraws& draws);
/// [900]: the grid with a line of ends to its right and below, in pads.
std::vector<std::uint8_t> arc_canvas(const ArcGrid& grid, const ArcPlace& place);

/// The largest grid of colours in the corner of a canvas, as far as its first row and column allow:
/// what the cells of a model that fills canvases say. None where the first cell is no colour.
ArcGrid grid_on_canvas(std::span<const std::int32_t> cells);

/// Task `number` of a seed: three pairs and one to be solved, each a grid by chance that is turned
/// and painted over as all of them are.
ArcTask make_arc_task(std::uint64_t seed, std::uint64_t number);

/// Every task of a file or folder, in the order of their names: a file of one task, {"train":
/// [{"input": [[0, ...], ...], "output": ...}, ...], "test": [...]}; of many by name, with their
/// answers in a file beside it, "..._solutions.json" for "..._challenges.json"; or a folder of
/// such files, or of folders of these. Where there are several sets, the tests of those whose name
/// has "evaluation" in it are judged, and the others learnt from. Throws weft::Error{data} with
/// file and place.
std::vector<ArcTask> read_arc_tasks(const std::filesystem::path& path);

/// By the first bytes of a file, or of the first one of a folder.
bool looks_like_arc_tasks(const std::filesystem::path& path);

} // namespace weft::data
