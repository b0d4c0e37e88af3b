// SPDX-License-Identifier: Apache-2.0
// weft data inspect PATH: what a file or folder is, without training on it. weft data make and
// convert: samples into an HDF5 file.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/opening_line.h"
#include "core/advise/suggest_run.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/lengths.h"
#include "core/data/puzzles/sudoku.h"
#include "core/data/puzzles/write_arc.h"
#include "core/data/puzzles/write_puzzles.h"
#include "core/data/recognise.h"
#include "core/data/scan.h"
#include "core/data/write_samples.h"

#include <cstdio>
#include <span>

namespace weft::cli {
namespace {

using config::Json;

struct InspectOptions {
    std::string path;
    bool scan = false;
    bool suggest = false;
    bool json = false;
};

Json column_json(const data::Column& column) {
    Json out{{"name", column.name},         {"kind", data::column_kind_name(column.kind)},
             {"values", column.values},     {"missing", column.missing},
             {"distinct", column.distinct}, {"examples", column.examples}};
    if (column.kind == data::Column::Kind::number) {
        out["whole_numbers"] = column.whole_numbers;
        out["minimum"] = column.minimum;
        out["maximum"] = column.maximum;
        out["mean"] = column.mean;
    }
    if (column.kind == data::Column::Kind::date) {
        out["earliest"] = column.earliest;
        out["latest"] = column.latest;
        out["has_times"] = column.has_times;
    }
    return out;
}

Json outline_json(const data::DataOutline& outline) {
    return {{"input", ir::to_text(outline.sample.input)},
            {"target", ir::to_text(outline.sample.target)},
            {"classes", outline.sample.classes},
            {"class_names", outline.sample.class_names},
            {"train_samples", outline.samples},
            {"has_validation", outline.has_validation},
            {"has_test", outline.has_test},
            {"memory_bytes", outline.cache_bytes}};
}

Json recognised_json(const data::Recognised& one) {
    Json out{{"format", one.format}, {"summary", one.summary}, {"data", one.data}};
    out["outline"] = one.outline ? outline_json(*one.outline) : Json();
    out["columns"] = Json::array();
    for (const data::Column& column : one.columns) {
        out["columns"].push_back(column_json(column));
    }
    out["class_counts"] = Json::array();
    for (const data::ClassCount& count : one.classes) {
        out["class_counts"].push_back({{"name", count.name}, {"samples", count.samples}});
    }
    out["notes"] = one.notes;
    out["problems"] = one.problems;
    return out;
}

void print_column(const data::Column& column) {
    std::string about = format_thousands(column.distinct) + " different";
    if (column.distinct > data::kMostDistinct) {
        about = "over " + format_thousands(data::kMostDistinct) + " different";
    }
    if (column.kind == data::Column::Kind::number) {
        char range[80];
        std::snprintf(range, sizeof(range), ", %.6g to %.6g, mean %.6g", column.minimum,
                      column.maximum, column.mean);
        about += range;
    } else if (column.kind == data::Column::Kind::date) {
        about += ", " + column.earliest + " to " + column.latest;
    } else if (!column.examples.empty()) {
        about += ": " + shown(join(column.examples, ", "), 50);
    }
    if (column.missing > 0) {
        about += ", " + format_thousands(column.missing) + " missing";
    }
    std::printf("  %-24s %-9s %s\n", shown(column.name, 24).c_str(),
                std::string(data::column_kind_name(column.kind)).c_str(), about.c_str());
}

void print_recognised(const data::Recognised& one) {
    std::printf("%s: %s\n", one.format.c_str(), one.summary.c_str());
    if (one.outline) {
        const data::DataOutline& outline = *one.outline;
        std::printf(
            "Samples: %s to %s, %s for training%s%s, %s in memory\n",
            ir::to_text(outline.sample.input).c_str(), ir::to_text(outline.sample.target).c_str(),
            format_thousands(outline.samples).c_str(),
            outline.has_validation ? ", a validation part" : "",
            outline.has_test ? ", a test part" : "", format_bytes(outline.cache_bytes).c_str());
    }
    if (!one.columns.empty()) {
        std::printf("Columns:\n");
        for (const data::Column& column : one.columns) {
            print_column(column);
        }
    }
    for (const data::ClassCount& count : one.classes) {
        std::printf("  class %-30s %s\n", shown(count.name, 30).c_str(),
                    format_thousands(count.samples).c_str());
    }
    for (const std::string& note : one.notes) {
        std::printf("Note: %s\n", note.c_str());
    }
    for (const std::string& problem : one.problems) {
        std::printf("Problem: %s\n", problem.c_str());
    }
    if (one.outline) {
        std::printf("As a data section:\n%s\n", one.data.dump(2).c_str());
    }
}

Json lengths_json(const data::Lengths& lengths) {
    Json out{{"things", lengths.things},
             {"unit", lengths.unit},
             {"context", lengths.context},
             {"count", lengths.each.size()},
             {"all", lengths.all},
             {"longer_than_context", lengths.longer()},
             {"padding", lengths.padding()},
             {"median", lengths.median()},
             {"findings", data::length_findings(lengths)}};
    out["ranges"] = Json::array();
    for (const data::LengthRange& range : data::length_ranges(lengths)) {
        out["ranges"].push_back(
            {{"first", range.first}, {"last", range.last}, {"count", range.count}});
    }
    return out;
}

void print_lengths(const data::Lengths& lengths) {
    std::printf("Lengths of %s in %s:\n", lengths.things.c_str(), lengths.unit.c_str());
    for (const data::LengthRange& range : data::length_ranges(lengths)) {
        const std::string ends =
            format_thousands(range.first) + " to " + format_thousands(range.last);
        std::printf("  %-24s %12s%s\n", ends.c_str(), format_thousands(range.count).c_str(),
                    range.last == lengths.context ? "  <- context" : "");
    }
    for (const std::string& finding : data::length_findings(lengths)) {
        std::printf("  %s\n", finding.c_str());
    }
}

/// What the best is not, and what else it might be, a line each.
void print_others(std::span<const data::Recognised> others) {
    for (const data::Recognised& one : others) {
        std::printf(one.problems.empty() ? "Could also be read as %s: %s\n" : "Not as %s: %s\n",
                    one.format.c_str(),
                    one.problems.empty() ? one.summary.c_str() : one.problems.front().c_str());
    }
}

Json part_json(const data::PartScan& part) {
    Json out{{"part", part.part},
             {"samples", part.samples},
             {"unreadable", part.unreadable},
             {"not_finite", part.not_finite},
             {"duplicates", part.duplicates},
             {"duplicate_share", part.duplicate_share},
             {"unlabelled", part.unlabelled},
             {"class_counts", part.class_counts},
             {"constant", part.constant},
             {"minimum", part.minimum},
             {"maximum", part.maximum}};
    out["bad"] = Json::array();
    for (const data::BadSample& bad : part.bad) {
        out["bad"].push_back({{"index", bad.index}, {"text", bad.text}});
    }
    return out;
}

Json scan_json(const data::ScanReport& report) {
    Json out{{"findings", report.findings()}, {"notes", report.notes}};
    out["parts"] = Json::array();
    for (const data::PartScan& part : report.parts) {
        out["parts"].push_back(part_json(part));
    }
    return out;
}

void print_scan(const data::ScanReport& report) {
    for (const data::PartScan& part : report.parts) {
        std::printf("Read %s samples of %s: values %.6g to %.6g\n",
                    format_thousands(part.samples).c_str(), part.part.c_str(), part.minimum,
                    part.maximum);
        for (const data::BadSample& bad : part.bad) {
            std::printf("  sample %lld: %s\n", static_cast<long long>(bad.index), bad.text.c_str());
        }
    }
    for (const std::string& note : report.notes) {
        std::printf("Note: %s\n", note.c_str());
    }
    for (const std::string& finding : report.findings()) {
        std::printf("Finding: %s\n", finding.c_str());
    }
}

config::Json normalised(const Json& section) {
    return config::check_fields(section, data::data_fields(), "/data").value;
}

std::string name_of(const std::string& path) {
    const std::filesystem::path full = std::filesystem::absolute(path).lexically_normal();
    const std::string stem = full.stem().string();
    return stem.empty() ? full.parent_path().filename().string() : stem;
}

int inspect(const InspectOptions& options, const Context& context) {
    OpeningLine reading(context);
    data::OpenContext opening{.sequence_length = data::kUsualContext};
    opening.on_opening = data::when_slow(
        [&reading](const data::Opening& one, double seconds) { reading.show(one, seconds); });
    const data::Recognition found = data::recognise(options.path, opening);
    reading.clear();
    Json out{{"path", options.path}, {"problems", found.problems}};
    out["formats"] = Json::array();
    for (const data::Recognised& one : found.formats) {
        out["formats"].push_back(recognised_json(one));
    }
    const data::Recognised* best = found.formats.empty() ? nullptr : &found.formats.front();
    const bool usable = best != nullptr && best->outline.has_value();
    if (!options.json) {
        for (const std::string& problem : found.problems) {
            std::printf("%s: %s\n", options.path.c_str(), problem.c_str());
        }
        if (best != nullptr) {
            print_recognised(*best);
            print_others(std::span(found.formats).subspan(1));
        }
    }
    if (usable) {
        const auto lengths = data::lengths_of(normalised(best->data), opening);
        out["lengths"] = lengths ? lengths_json(*lengths) : Json();
        if (lengths && !options.json) {
            print_lengths(*lengths);
        }
    }
    if (usable && options.scan) {
        const auto report = data::scan(normalised(best->data), opening);
        reading.clear();
        out["scan"] = scan_json(report.value());
        if (!options.json) {
            print_scan(*report);
        }
    }
    if (usable && options.suggest) {
        const advise::Suggestion run = advise::suggest_run(best->data, {}, name_of(options.path));
        out["suggestion"] = {{"configuration", run.document}, {"reasons", run.reasons}};
        if (!options.json) {
            std::printf("A run on it: %s.\n%s\n", join(run.reasons, "; ").c_str(),
                        run.document.dump(2).c_str());
        }
    }
    if (options.json) {
        print_json(out);
    }
    return usable ? 0 : exit_code(ErrorKind::data);
}

/// A line at the terminal says how far it is.
int write_file(const Json& section, const std::string& to, bool json, const Context& context) {
    OpeningLine writing(context);
    data::OpenContext opening;
    opening.on_opening = data::when_slow(
        [&writing](const data::Opening& one, double seconds) { writing.show(one, seconds); });
    const data::WrittenSamples written = data::write_samples(section, opening, to);
    writing.clear();
    if (json) {
        print_json({{"path", to},
                    {"train_samples", written.train},
                    {"test_samples", written.test},
                    {"bytes", written.bytes}});
    } else {
        const std::string test =
            written.test > 0 ? " and " + format_thousands(written.test) + " of a test part" : "";
        std::printf("Wrote %s samples%s to %s, %s.\n", format_thousands(written.train).c_str(),
                    test.c_str(), to.c_str(), format_bytes(written.bytes).c_str());
    }
    return 0;
}

struct MakeOptions {
    std::string kind, to;
    std::int64_t samples = 10000;
    std::optional<std::int64_t> features, classes, targets, height, width, channels, side, test;
    std::string layout = "csv"; // of puzzles
    std::string from;           // tasks of ARC
    std::int64_t augmentations = 1000;
    std::int64_t seed = 0;
    bool json = false;
};

constexpr int kMazeSide = 30;
constexpr int kLeastMaze = 4;
constexpr int kMostMaze = 100;

/// A line at the terminal says how far it is.
int make_puzzles(const MakeOptions& options, const Context& context) {
    OpeningLine writing(context);
    data::OpenContext opening;
    opening.on_opening = data::when_slow(
        [&writing](const data::Opening& one, double seconds) { writing.show(one, seconds); });
    const bool mazes = options.kind == "maze";
    data::PuzzleOrder order;
    order.kind = mazes ? data::PuzzleKind::maze : data::PuzzleKind::sudoku;
    order.side = static_cast<int>(options.side.value_or(mazes ? kMazeSide : 9));
    order.train = options.samples;
    order.test = options.test.value_or(1000);
    order.seed = static_cast<std::uint64_t>(options.seed);
    order.layout =
        options.layout == "npy" ? data::PuzzleOrder::Layout::npy : data::PuzzleOrder::Layout::csv;
    if (mazes ? order.side < kLeastMaze || order.side > kMostMaze
              : !data::sudoku_shape(order.side)) {
        throw Error(ErrorKind::usage, "--side",
                    std::to_string(order.side) + " is no side of " + (mazes ? "a maze" : "a board"),
                    mazes ? "Use 4 to 100." : "Use 4, 6 or 9.");
    }
    data::write_puzzles(order, opening, options.to);
    writing.clear();
    if (options.json) {
        print_json({{"path", options.to},
                    {"train_samples", order.train},
                    {"test_samples", order.test},
                    {"bytes", directory_bytes(options.to)}});
    } else {
        std::printf("Wrote %s puzzles and %s of a test part to %s, %s.\n",
                    format_thousands(order.train).c_str(), format_thousands(order.test).c_str(),
                    options.to.c_str(), format_bytes(directory_bytes(options.to)).c_str());
    }
    return 0;
}

/// Tasks of ARC as a published set.
int make_arc(const MakeOptions& options, const Context& context) {
    if (options.from.empty()) {
        throw Error(ErrorKind::usage, "--from", "no tasks are named",
                    "Use --from with a file or folder of tasks in JSON.");
    }
    OpeningLine writing(context);
    data::OpenContext opening;
    opening.on_opening = data::when_slow(
        [&writing](const data::Opening& one, double seconds) { writing.show(one, seconds); });
    const data::ArcOrder order{.tasks = data::read_arc_tasks(options.from),
                               .forms = options.augmentations,
                               .seed = static_cast<std::uint64_t>(options.seed)};
    const data::WrittenArc written = data::write_arc(order, opening, options.to);
    writing.clear();
    if (options.json) {
        print_json({{"path", options.to},
                    {"train_samples", written.train},
                    {"test_samples", written.test},
                    {"identifiers", written.identifiers},
                    {"bytes", directory_bytes(options.to)}});
    } else {
        std::printf("Wrote %s boards and %s of a test part, of %s tasks in %s forms, to %s, %s.\n",
                    format_thousands(written.train).c_str(), format_thousands(written.test).c_str(),
                    format_thousands(std::ssize(order.tasks)).c_str(),
                    format_thousands(written.identifiers - 1).c_str(), options.to.c_str(),
                    format_bytes(directory_bytes(options.to)).c_str());
    }
    return 0;
}

int make(const MakeOptions& options, const Context& context) {
    if (options.kind == "arc") {
        return make_arc(options, context);
    }
    if (options.kind == "sudoku" || options.kind == "maze") {
        return make_puzzles(options, context);
    }
    Json train{{"type", "synthetic"},
               {"kind", options.kind},
               {"samples", options.samples},
               {"seed", options.seed}};
    const auto take = [&train](const char* name, const std::optional<std::int64_t>& value) {
        if (value) {
            train[name] = *value;
        }
    };
    take("features", options.features);
    take("classes", options.classes);
    take("targets", options.targets);
    if (options.kind == "images") {
        train["shape"] = {options.height.value_or(28), options.width.value_or(28),
                          options.channels.value_or(1)};
    }
    return write_file({{"train", std::move(train)}}, options.to, options.json, context);
}

struct ConvertOptions {
    std::string path, to;
    bool json = false;
};

int convert(const ConvertOptions& options, const Context& context) {
    const data::Recognition found = data::recognise(options.path, {});
    if (found.formats.empty() || !found.formats.front().outline) {
        throw Error(ErrorKind::data, options.path,
                    found.problems.empty() ? "it cannot be read" : found.problems.front(),
                    "`weft data inspect` says more");
    }
    return write_file(found.formats.front().data, options.to, options.json, context);
}

void add_make(Command data, Context& context) {
    auto options = std::make_shared<MakeOptions>();
    const Command command = data.subcommand("make", "write samples of a rule that can be learnt");
    command
        .positional("KIND", &options->kind,
                    "regression, classification, images, sudoku, maze or arc")
        .required()
        .one_of({"regression", "classification", "images", "sudoku", "maze", "arc"});
    command.positional("FILE", &options->to, "HDF5 file to write; of puzzles a folder").required();
    command.option("--samples", &options->samples, "how many").positive().show_default();
    command.option("--features", &options->features, "numbers in a sample (default 16)");
    command.option("--classes", &options->classes, "number of classes (default 10)");
    command.option("--targets", &options->targets, "numbers to predict (default 1)");
    command.option("--height", &options->height, "of images (default 28)");
    command.option("--width", &options->width, "of images (default 28)");
    command.option("--channels", &options->channels, "of images (default 1)");
    command.option("--side", &options->side,
                   "of sudoku: 4, 6 or 9 (default 9); of mazes 4 to 100 (default 30)");
    command.option("--test", &options->test, "puzzles of a test part (default 1000)")
        .not_negative();
    command.option("--as", &options->layout, "of puzzles: csv, or npy as sets are published")
        .one_of({"csv", "npy"})
        .show_default();
    command.option("--from", &options->from, "of arc: file or folder of tasks in JSON");
    command.option("--augmentations", &options->augmentations, "of arc: forms of each task")
        .not_negative()
        .show_default();
    command.option("--seed", &options->seed, "chooses the rule and the samples").not_negative();
    command.flag("--json", &options->json, "print JSON");
    command.callback([options, &context] { context.exit_code = make(*options, context); });
}

void add_convert(Command data, Context& context) {
    auto options = std::make_shared<ConvertOptions>();
    const Command command =
        data.subcommand("convert", "write what a run would read of a file or folder as HDF5");
    command.positional("PATH", &options->path, "file or folder").required();
    command.positional("FILE", &options->to, "HDF5 file to write").required();
    command.flag("--json", &options->json, "print JSON");
    command.callback([options, &context] { context.exit_code = convert(*options, context); });
}

} // namespace

void add_data(Command app, Context& context) {
    const Command data = app.subcommand("data", "look into data sets, make and convert them");
    data.needs_subcommand();
    auto options = std::make_shared<InspectOptions>();
    const Command command =
        data.subcommand("inspect", "say what a file or folder is and how it would be read");
    command.positional("PATH", &options->path, "file or folder").required();
    command.flag("--scan", &options->scan, "also read every sample and report what is wrong");
    command.flag("--suggest", &options->suggest, "also print a configuration that trains on it");
    command.flag("--json", &options->json, "print JSON");
    command.callback([options, &context] { context.exit_code = inspect(*options, context); });
    add_make(data, context);
    add_convert(data, context);
    add_tokens(data, context);
    add_audit(data, context);
}

} // namespace weft::cli
