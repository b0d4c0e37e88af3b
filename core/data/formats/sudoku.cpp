// SPDX-License-Identifier: Apache-2.0
// sudoku: boards to be filled, as CSV files (question and answer), folders in the layout that
// puzzle sets are published in, or made on the fly. Training may see each puzzle changed in every
// epoch: digits, bands, stacks, lines, transposed; what a model must not depend on.
#include "core/data/puzzles/sudoku.h"
#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "core/data/formats/format_list.h"
#include "core/data/puzzles/puzzle_set.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::uint64_t kDrawsOfSample = 64; // numbers that a sample takes of its epoch's stream

SampleInfo sudoku_info(std::int64_t cells, std::int64_t vocabulary, std::int64_t samples) {
    SampleInfo out;
    out.input = out.target = {ir::DType::i32, {cells}};
    out.classes = vocabulary;
    out.class_names = {"pad", "blank"};
    for (std::int64_t digit = 1; digit + 1 < vocabulary; ++digit) {
        out.class_names.push_back(std::to_string(digit));
    }
    const auto side = std::to_string(std::llround(std::sqrt(static_cast<double>(cells))));
    out.description = "Sudoku " + side + "x" + side + ", " + format_thousands(samples) + " puzzles";
    return out;
}

class SudokuSource final : public Source {
public:
    SudokuSource(PuzzleSet set, std::optional<SudokuShape> changes, std::uint64_t seed,
                 const fs::path& path)
        : set_(std::move(set)), changes_(changes), stream_(seed, "data.sudoku.change"),
          name_(path.filename().string()) {
        info_ = sudoku_info(set_.cells, set_.vocabulary, samples());
        const auto bytes = [](const std::vector<std::uint8_t>& all) {
            return std::as_bytes(std::span(all));
        };
        fingerprint_ = "sudoku " + std::to_string(set_.boards()) + " boards of " +
                       std::to_string(set_.cells) + ", " +
                       std::to_string(crc32c(bytes(set_.inputs))) + " " +
                       std::to_string(crc32c(bytes(set_.labels)));
    }

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override {
        return static_cast<std::int64_t>(set_.groups.size()) - 1;
    }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        const std::int64_t board = set_.groups.at(static_cast<std::size_t>(index));
        write(set_.input(board), input, false);
        write(set_.label(board), target, true);
    }
    void read_in_epoch(std::int64_t index, std::int64_t epoch, std::span<std::byte> input,
                       std::span<std::byte> target) const override {
        SudokuDraws draws(stream_, static_cast<std::uint64_t>(epoch),
                          static_cast<std::uint64_t>(index) * kDrawsOfSample);
        const std::int64_t first = set_.groups.at(static_cast<std::size_t>(index));
        const std::int64_t end = set_.groups.at(static_cast<std::size_t>(index) + 1);
        const std::int64_t board = first + draws.below(static_cast<int>(end - first));
        if (!changes_) {
            write(set_.input(board), input, false);
            write(set_.label(board), target, true);
            return;
        }
        const SudokuChange change = change_sudoku(*changes_, draws);
        write(changed(change, set_.input(board)), input, false);
        write(changed(change, set_.label(board)), target, true);
    }
    std::int32_t label(std::int64_t) const override { return -1; }
    std::string place_of(std::int64_t index) const override {
        return name_ + ", puzzle " + std::to_string(index + 1);
    }
    std::int64_t cache_bytes() const override { return set_.bytes(); }
    std::string fingerprint() const override { return fingerprint_; }

private:
    /// Of stored cells; a pad is kept as a blank would be.
    static SudokuGrid changed(const SudokuChange& change, std::span<const std::uint8_t> stored) {
        SudokuGrid out(stored.begin(), stored.end());
        for (std::uint8_t& cell : out) {
            cell = static_cast<std::uint8_t>(cell - 1);
        }
        out = change.of(out);
        for (std::uint8_t& cell : out) {
            cell = static_cast<std::uint8_t>(cell + 1);
        }
        return out;
    }

    void write(std::span<const std::uint8_t> cells, std::span<std::byte> to, bool label) const {
        if (to.empty()) {
            return;
        }
        WEFT_CHECK(to.size() == cells.size() * sizeof(std::int32_t), "a sample has its size");
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const bool ignored = label && cells[i] == set_.ignored;
            const std::int32_t value = ignored ? -1 : static_cast<std::int32_t>(cells[i]);
            std::memcpy(to.data() + i * sizeof value, &value, sizeof value);
        }
    }

    PuzzleSet set_;
    std::optional<SudokuShape> changes_;
    RandomStream stream_;
    std::string name_;
    SampleInfo info_;
    std::string fingerprint_;
};

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

/// The rules of boards with so many cells and numbers; others are not changed.
std::optional<SudokuShape> rules_of(const PuzzleSet& set) {
    for (const int side : {4, 6, 9}) {
        if (set.cells == std::int64_t{side} * side && set.vocabulary == side + 2) {
            return sudoku_shape(side);
        }
    }
    return std::nullopt;
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
                                          Part part, Notes& notes) {
    const bool made = settings.at("path").is_null();
    const fs::path path = made ? fs::path("sudoku") : part_at(settings, context, part);
    PuzzleSet set = made ? made_puzzles(settings, context, part) : read_puzzles(path, context);
    if (set.identifiers > 1) {
        notes.push_back(path.filename().string() + " has " + format_thousands(set.identifiers) +
                        " kinds of puzzles, which are not told apart");
    }
    const bool augment = settings.at("augment").get<bool>() && part == Part::train;
    const auto shape = rules_of(set);
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
    return std::make_shared<SudokuSource>(std::move(set), augment ? shape : std::nullopt,
                                          context.seed, path);
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
                                 .sniff = looks_like_puzzles,
                                 .has_test = sudoku_has_test,
                                 .open = open_sudoku,
                                 .outline = outline_sudoku,
                                 .outline_of_named_files = true,
                                 .propose = propose_sudoku,
                                 .for_input = sudoku_for_input};

} // namespace weft::data
