// SPDX-License-Identifier: Apache-2.0
// sudoku: boards to be filled, as CSV files (question and answer), folders in the layout that
// puzzle sets are published in, or made on the fly. Training may see each puzzle changed in every
// epoch: digits, bands, stacks, lines, transposed; what a model must not depend on.
#include "core/data/puzzles/sudoku.h"
#include "core/base/text.h"
#include "core/data/formats/format_list.h"
#include "core/data/puzzles/puzzle_set.h"
#include "core/data/puzzles/puzzle_source.h"

#include <algorithm>
#include <cmath>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

/// The rules of boards with so many cells and numbers; others are not changed.
std::optional<SudokuShape> sudoku_rules(std::int64_t cells, std::int64_t vocabulary) {
    for (const int side : {4, 6, 9}) {
        if (cells == std::int64_t{side} * side && vocabulary == side + 2) {
            return sudoku_shape(side);
        }
    }
    return std::nullopt;
}

SampleInfo sudoku_info(std::int64_t cells, std::int64_t vocabulary, std::int64_t samples) {
    SampleInfo out;
    out.input = out.target = {ir::DType::i32, {cells}};
    out.classes = vocabulary;
    out.class_names = {"pad", "blank"};
    for (std::int64_t digit = 1; digit + 1 < vocabulary; ++digit) {
        out.class_names.push_back(std::to_string(digit));
    }
    const std::int64_t side = std::llround(std::sqrt(static_cast<double>(cells)));
    const std::string text = std::to_string(side);
    out.description = "Sudoku " + text + "x" + text + ", " + format_thousands(samples) + " puzzles";
    if (const auto shape = sudoku_rules(cells, vocabulary)) {
        out.board = {.rows = side,
                     .columns = side,
                     .box_rows = shape->box_rows,
                     .box_columns = shape->box_columns,
                     .symbols = "_.123456789",
                     .blank = 1,
                     .rules = BoardForm::Rules::sudoku};
        out.board->symbols.resize(static_cast<std::size_t>(vocabulary));
    }
    return out;
}

/// Of stored cells; a blank stays one.
BoardChange sudoku_change(const SudokuShape& shape, SudokuDraws& draws) {
    return [change = change_sudoku(shape, draws)](std::span<const std::uint8_t> stored) {
        SudokuGrid out(stored.begin(), stored.end());
        for (std::uint8_t& cell : out) {
            cell = static_cast<std::uint8_t>(cell - 1);
        }
        out = change.of(out);
        for (std::uint8_t& cell : out) {
            cell = static_cast<std::uint8_t>(cell + 1);
        }
        return out;
    };
}

bool looks_like_sudoku(const fs::path& path) {
    return looks_like_puzzles(path, PuzzleKind::sudoku);
}

config::FieldTable sudoku_fields() {
    return {
        config::path_field("path", nullptr,
                           "CSV file (source, question, answer, rating), or folder of "
                           "train.csv and test.csv, or of a published puzzle set; null: "
                           "puzzles are made, as the fields below say.")
            .or_null(),
        config::integer_field("side", 9, "Of puzzles that are made: 4, 6 or 9 digits.").range(4, 9),
        config::integer_field("samples", 1000,
                              "Of puzzles that are made: how many for training; the test part "
                              "has a fifth, none of them.")
            .range(1, 1 << 24),
        config::integer_field("seed", 0, "Of puzzles that are made: which.").at_least(0),
        config::boolean_field("augment", true,
                              "Training sees each puzzle changed in every epoch: digits, "
                              "bands, stacks, rows, columns, transposed.")};
}

fs::path part_at(const Json& settings, const OpenContext& context, Part part) {
    const fs::path path = resolve(context.base_dir, settings.at("path").get<std::string>());
    fs::path found = puzzle_part(path, part);
    if (found.empty()) {
        throw Error(ErrorKind::data, path.string(),
                    "there are no puzzles: neither a CSV file, nor a folder with train.csv or "
                    "train/dataset.json",
                    "Check data.train.path, or make some: weft data make sudoku FOLDER.");
    }
    return found;
}

/// The rules that are asked for.
SudokuShape made_shape(const Json& settings) {
    const auto side = settings.at("side").get<int>();
    const auto shape = sudoku_shape(side);
    if (!shape) {
        throw Error(ErrorKind::data, "sudoku",
                    "no boards are made of " + std::to_string(side) + " digits",
                    "Set data.train.side to 4, 6 or 9.");
    }
    return *shape;
}

std::int64_t made_samples(const Json& settings, Part part) {
    const auto train = settings.at("samples").get<std::int64_t>();
    return part == Part::train ? train : std::max<std::int64_t>(train / 5, 1);
}

/// Those of training come first, so that the others are none of them.
PuzzleSet made_puzzles(const Json& settings, const OpenContext& context, Part part) {
    const SudokuShape shape = made_shape(settings);
    const std::int64_t first = part == Part::train ? 0 : made_samples(settings, Part::train);
    const std::int64_t end = first + made_samples(settings, part);
    OpeningWatch watch(context, {.name = "sudoku", .unit = "puzzles", .total = end});
    SudokuMaker maker(shape, settings.at("seed").get<std::uint64_t>());
    PuzzleSet out;
    out.cells = shape.cells();
    out.vocabulary = shape.side() + 2;
    for (std::int64_t i = 0; i < end; ++i) {
        const SudokuPuzzle puzzle = maker.next();
        watch.reached(i + 1);
        if (i < first) {
            continue;
        }
        out.groups.push_back(i - first);
        for (std::size_t cell = 0; cell < puzzle.question.size(); ++cell) {
            out.inputs.push_back(static_cast<std::uint8_t>(puzzle.question[cell] + 1));
            out.labels.push_back(static_cast<std::uint8_t>(puzzle.answer[cell] + 1));
        }
    }
    out.groups.push_back(end - first);
    return out;
}

std::shared_ptr<const Source> open_sudoku(const Json& settings, const OpenContext& context,
                                          Part part, Notes&) {
    const bool made = settings.at("path").is_null();
    const fs::path path = made ? fs::path("sudoku") : part_at(settings, context, part);
    PuzzleSet set = made ? made_puzzles(settings, context, part)
                         : read_puzzles(path, context, PuzzleKind::sudoku);
    const bool augment = settings.at("augment").get<bool>() && part == Part::train;
    const auto shape = sudoku_rules(set.cells, set.vocabulary);
    const bool padded = std::find(set.inputs.begin(), set.inputs.end(), 0) != set.inputs.end() ||
                        std::find(set.labels.begin(), set.labels.end(), 0) != set.labels.end();
    if (augment && (!shape || padded)) {
        throw Error(ErrorKind::data, path.string(),
                    "boards of " + std::to_string(set.cells) + " cells and " +
                        std::to_string(set.vocabulary) +
                        " numbers are no Sudoku that could be "
                        "changed",
                    "Set data.train.augment to false.");
    }
    const std::int64_t samples = static_cast<std::int64_t>(set.groups.size()) - 1;
    PuzzleSamples out{.kind = "sudoku",
                      .info = told_apart(sudoku_info(set.cells, set.vocabulary, samples), set)};
    if (augment) {
        out.change = [rules = *shape](SudokuDraws& draws) { return sudoku_change(rules, draws); };
    }
    return puzzle_source(std::move(set), std::move(out), context.seed, path);
}

PartOutline outline_sudoku(const Json& settings, const OpenContext& context, Part part, Files) {
    if (settings.at("path").is_null()) {
        const SudokuShape shape = made_shape(settings);
        const std::int64_t samples = made_samples(settings, part);
        return {sudoku_info(shape.cells(), shape.side() + 2, samples), samples,
                samples * (2 * shape.cells() + 8) + 8, ""};
    }
    Notes ignored;
    const auto source = open_sudoku(settings, context, part, ignored);
    return {source->info(), source->samples(), source->cache_bytes(), ""};
}

bool sudoku_has_test(const Json& settings, const OpenContext& context) {
    if (settings.at("path").is_null()) {
        return true;
    }
    const fs::path path = resolve(context.base_dir, settings.at("path").get<std::string>());
    return !puzzle_part(path, Part::test).empty();
}

Json propose_sudoku(const fs::path& path, const OpenContext&) {
    return {{"train", {{"type", "sudoku"}, {"path", path.string()}}},
            {"validation", {{"split", 0.1}}}};
}

Json sudoku_for_input(Json settings, const fs::path& path) {
    settings["path"] = path.string();
    return settings;
}

} // namespace

const FormatDef kSudokuFormat = {.name = "sudoku",
                                 .help = "Sudoku puzzles of 4, 6 or 9 digits and their solutions.",
                                 .split_rule = SplitRule::by_class,
                                 .fields = sudoku_fields,
                                 .sniff = looks_like_sudoku,
                                 .has_test = sudoku_has_test,
                                 .open = open_sudoku,
                                 .outline = outline_sudoku,
                                 .outline_of_named_files = true,
                                 .propose = propose_sudoku,
                                 .for_input = sudoku_for_input};

} // namespace weft::data
