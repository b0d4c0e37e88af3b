// SPDX-License-Identifier: Apache-2.0
// maze: a grid of walls and ways with a start and a goal, and the shortest way between them, as CSV
// files, folders in the layout that puzzle sets are published in, or made on the fly.
#include "core/data/puzzles/maze.h"
#include "core/base/text.h"
#include "core/data/formats/format_list.h"
#include "core/data/puzzles/puzzle_set.h"
#include "core/data/puzzles/puzzle_source.h"
#include "core/data/puzzles/write_puzzles.h"

#include <algorithm>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr int kTurns = 8;

SampleInfo maze_info(std::int64_t cells, std::int64_t samples) {
    const std::int64_t side = square_side(cells);
    const std::string text = std::to_string(side);
    SampleInfo out;
    out.input = out.target = {ir::DType::i32, {cells}};
    out.classes = kMazeVocabulary;
    out.class_names = {"pad", "wall", "open", "start", "goal", "way"};
    out.description = "mazes " + text + "x" + text + ", " + format_thousands(samples) + " puzzles";
    out.board = {.rows = side,
                 .columns = side,
                 .symbols = "_#.SGo",
                 .blank = static_cast<std::int32_t>(MazeCell::open),
                 .rules = BoardForm::Rules::maze};
    return out;
}

config::FieldTable maze_fields() {
    return {
        config::path_field("path", nullptr,
                           "CSV file (source, question, answer, rating), or folder of "
                           "train.csv and test.csv, or of a published puzzle set; null: mazes "
                           "are made, as the fields below say.")
            .or_null(),
        config::integer_field("side", 30, "Of mazes that are made: cells of a side.").range(4, 100),
        config::integer_field("samples", 1000,
                              "Of mazes that are made: how many for training; the test part "
                              "has a fifth, none of them.")
            .range(1, 1 << 24),
        config::integer_field("seed", 0, "Of mazes that are made: which.").at_least(0),
        config::boolean_field("augment", false,
                              "Training sees each maze turned or mirrored in every epoch.")};
}

fs::path maze_part(const Json& settings, const OpenContext& context, Part part) {
    const fs::path path = resolve(context.base_dir, settings.at("path").get<std::string>());
    fs::path found = puzzle_part(path, part);
    if (found.empty()) {
        throw Error(ErrorKind::data, path.string(),
                    "there are no mazes: neither a CSV file, nor a folder with train.csv or "
                    "train/dataset.json",
                    "Check data.train.path, or make some: weft data make maze FOLDER.");
    }
    return found;
}

std::int64_t mazes_made(const Json& settings, Part part) {
    const auto train = settings.at("samples").get<std::int64_t>();
    return part == Part::train ? train : std::max<std::int64_t>(train / 5, 1);
}

/// Those of training come first, so that the others are none of them.
PuzzleSet made_mazes(const Json& settings, const OpenContext& context, Part part) {
    const int side = settings.at("side").get<int>();
    const std::int64_t first = part == Part::train ? 0 : mazes_made(settings, Part::train);
    const std::int64_t end = first + mazes_made(settings, part);
    OpeningWatch watch(context, {.name = "maze", .unit = "puzzles", .total = end});
    MazeMaker maker({side, side}, settings.at("seed").get<std::uint64_t>());
    PuzzleSet out;
    out.cells = std::int64_t{side} * side;
    out.vocabulary = kMazeVocabulary;
    for (std::int64_t i = 0; i < end; ++i) {
        const Maze maze = maker.next();
        watch.reached(i + 1);
        if (i < first) {
            continue;
        }
        out.groups.push_back(i - first);
        out.inputs.insert(out.inputs.end(), maze.question.begin(), maze.question.end());
        out.labels.insert(out.labels.end(), maze.answer.begin(), maze.answer.end());
    }
    out.groups.push_back(end - first);
    return out;
}

void check_mazes(const PuzzleSet& set, const fs::path& path) {
    if (set.vocabulary != kMazeVocabulary || square_side(set.cells) < 2) {
        throw Error(ErrorKind::data, path.string(),
                    "boards of " + std::to_string(set.cells) + " cells and " +
                        std::to_string(set.vocabulary) + " numbers are no mazes",
                    "Mazes are square and have 6 numbers: pad, wall, open, start, goal, way.");
    }
}

std::shared_ptr<const Source> open_maze(const Json& settings, const OpenContext& context, Part part,
                                        Notes&) {
    const bool made = settings.at("path").is_null();
    const fs::path path = made ? fs::path("maze") : maze_part(settings, context, part);
    PuzzleSet set =
        made ? made_mazes(settings, context, part) : read_puzzles(path, context, PuzzleKind::maze);
    check_mazes(set, path);
    const std::int64_t samples = static_cast<std::int64_t>(set.groups.size()) - 1;
    PuzzleSamples out{.kind = "maze", .info = told_apart(maze_info(set.cells, samples), set)};
    if (settings.at("augment").get<bool>() && part == Part::train) {
        const int side = static_cast<int>(out.info.board->rows);
        out.change = [side](SudokuDraws& draws) -> BoardChange {
            const int turn = draws.below(kTurns);
            return [side, turn](std::span<const std::uint8_t> board) {
                return turned_maze({side, side}, board, turn);
            };
        };
    }
    return puzzle_source(std::move(set), std::move(out), context.seed, path);
}

PartOutline outline_maze(const Json& settings, const OpenContext& context, Part part, Files) {
    if (settings.at("path").is_null()) {
        const auto side = settings.at("side").get<std::int64_t>();
        const std::int64_t samples = mazes_made(settings, part);
        return {maze_info(side * side, samples), samples, samples * (2 * side * side + 8) + 8, ""};
    }
    Notes ignored;
    const auto source = open_maze(settings, context, part, ignored);
    return {source->info(), source->samples(), source->cache_bytes(), ""};
}

bool maze_has_test(const Json& settings, const OpenContext& context) {
    if (settings.at("path").is_null()) {
        return true;
    }
    const fs::path path = resolve(context.base_dir, settings.at("path").get<std::string>());
    return !puzzle_part(path, Part::test).empty();
}

bool looks_like_mazes(const fs::path& path) {
    return looks_like_puzzles(path, PuzzleKind::maze);
}

Json propose_maze(const fs::path& path, const OpenContext&) {
    return {{"train", {{"type", "maze"}, {"path", path.string()}}},
            {"validation", {{"split", 0.1}}}};
}

Json maze_for_input(Json settings, const fs::path& path) {
    settings["path"] = path.string();
    return settings;
}

} // namespace

const FormatDef kMazeFormat = {.name = "maze",
                               .help = "Mazes and the shortest way through them.",
                               .split_rule = SplitRule::by_class,
                               .fields = maze_fields,
                               .sniff = looks_like_mazes,
                               .has_test = maze_has_test,
                               .open = open_maze,
                               .outline = outline_maze,
                               .outline_of_named_files = true,
                               .propose = propose_maze,
                               .for_input = maze_for_input};

} // namespace weft::data
