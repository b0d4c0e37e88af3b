// SPDX-License-Identifier: Apache-2.0
// arc: tasks of the Abstraction and Reasoning Corpus, as JSON files, as a folder in the layout that
// puzzle sets are published in, or made on the fly. Each form of a task has an identifier, of which
// a model may learn what the task's pairs show.
#include "core/base/text.h"
#include "core/data/formats/format_list.h"
#include "core/data/puzzles/arc_source.h"
#include "core/data/puzzles/puzzle_set.h"
#include "core/data/puzzles/puzzle_source.h"

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

config::FieldTable arc_fields() {
    return {
        config::path_field("path", nullptr,
                           "File or folder of tasks as github.com/fchollet/ARC-AGI and the ARC "
                           "Prize have them, or folder of a published puzzle set, which is read as "
                           "it is; null: tasks are made, as the fields below say.")
            .or_null(),
        config::choice_field(
            "pairs", "train", {"train", "test"},
            "train: the pairs that tasks are shown by, and where there are several "
            "sets of tasks the tests of those not called evaluation. test: the "
            "other tests, for data.validation; each is seen as it is."),
        config::integer_field("augmentations", 1000,
                              "Forms of each task beside itself: turned, mirrored, in other "
                              "colours but for black. Each has an identifier of its own.")
            .range(0, 1 << 20),
        config::boolean_field("translate", true,
                              "Training sees each pair anywhere on the canvas of 30 x 30."),
        config::integer_field("tasks", 400, "Of tasks that are made: how many.").range(1, 1 << 20),
        config::integer_field("seed", 0, "Of tasks that are made: which.").at_least(0)};
}

bool wants_tests(const Json& settings, Part part) {
    return part == Part::test || settings.at("pairs") == "test";
}

/// The folder of a published set; empty: it is none.
fs::path published_arc(const fs::path& path, Part part) {
    const fs::path found = puzzle_part(path, part);
    std::error_code ignored;
    return fs::is_directory(found, ignored) ? found : fs::path();
}

std::shared_ptr<const Source> open_published(const fs::path& path, const OpenContext& context) {
    PuzzleSet set = read_puzzles(path, context, PuzzleKind::sudoku);
    if (set.cells != kArcCells || set.vocabulary != kArcVocabulary) {
        throw Error(ErrorKind::data, path.string(),
                    "boards of " + std::to_string(set.cells) + " cells and " +
                        std::to_string(set.vocabulary) + " numbers are none of ARC",
                    "Its boards have 900 cells and 12 numbers: pad, end, and ten colours.");
    }
    SampleInfo info = arc_info(0);
    info.input = info.target;
    info.description = "ARC, " + format_thousands(std::ssize(set.groups) - 1) + " tasks, " +
                       format_thousands(set.boards()) + " pairs";
    PuzzleSamples samples{.kind = "arc", .info = told_apart(std::move(info), set)};
    return puzzle_source(std::move(set), std::move(samples), context.seed, path);
}

std::shared_ptr<const Source> open_arc(const Json& settings, const OpenContext& context, Part part,
                                       Notes& notes) {
    const bool tests = wants_tests(settings, part);
    ArcSamples samples{.forms = settings.at("augmentations").get<std::int64_t>(),
                       .moves = settings.at("translate").get<bool>(),
                       .pairs = tests ? ArcSamples::Pairs::test : ArcSamples::Pairs::train,
                       .name = "arc"};
    if (settings.at("path").is_null()) {
        const auto seed = settings.at("seed").get<std::uint64_t>();
        for (std::int64_t i = 0; i < settings.at("tasks").get<std::int64_t>(); ++i) {
            samples.tasks.push_back(make_arc_task(seed, static_cast<std::uint64_t>(i)));
        }
        return arc_source(std::move(samples), context, notes);
    }
    const fs::path path = resolve(context.base_dir, settings.at("path").get<std::string>());
    const fs::path published = published_arc(path, tests ? Part::test : Part::train);
    if (!published.empty()) {
        return open_published(published, context);
    }
    samples.tasks = read_arc_tasks(path);
    samples.name = path.string();
    return arc_source(std::move(samples), context, notes);
}

PartOutline outline_arc(const Json& settings, const OpenContext& context, Part part, Files) {
    Notes ignored;
    const auto source = open_arc(settings, context, part, ignored);
    PartOutline out{source->info(), source->samples(), source->cache_bytes(), ""};
    out.encoding = source->encoding();
    return out;
}

bool arc_has_test(const Json& settings, const OpenContext& context) {
    if (settings.at("pairs") == "test") {
        return false;
    }
    if (settings.at("path").is_null()) {
        return true;
    }
    const fs::path path = resolve(context.base_dir, settings.at("path").get<std::string>());
    return published_arc(path, Part::train).empty() || !published_arc(path, Part::test).empty();
}

/// A published set says so; tasks are known by their first bytes.
bool looks_like_arc(const fs::path& path) {
    const fs::path published = published_arc(path, Part::train);
    return published.empty() ? looks_like_arc_tasks(path)
                             : describes_boards(published, kArcCells, kArcVocabulary);
}

Json propose_arc(const fs::path& path, const OpenContext&) {
    const Json source = {{"type", "arc"}, {"path", path.string()}};
    Json out = {{"train", source}, {"validation", source}};
    out["validation"]["pairs"] = "test";
    return out;
}

Json arc_for_input(Json settings, const fs::path& path) {
    settings["path"] = path.string();
    settings["pairs"] = "test";
    return settings;
}

} // namespace

const FormatDef kArcFormat = {.name = "arc",
                              .help = "Tasks of ARC: grids of colours that follow a rule.",
                              .split_rule = SplitRule::by_class,
                              .fields = arc_fields,
                              .sniff = looks_like_arc,
                              .has_test = arc_has_test,
                              .open = open_arc,
                              .outline = outline_arc,
                              .outline_of_named_files = true,
                              .propose = propose_arc,
                              .for_input = arc_for_input};

} // namespace weft::data
