// SPDX-License-Identifier: Apache-2.0
#include "core/data/puzzles/puzzle_set.h"

#include "core/base/text.h"
#include "core/config/pointer.h"
#include "core/data/files/csv_reader.h"
#include "core/data/files/npy_header.h"
#include "core/data/puzzles/maze.h"
#include "core/data/puzzles/puzzle_source.h"

#include <algorithm>
#include <cmath>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::int64_t kMostDescription = 1 << 20; // bytes of dataset.json
constexpr std::int64_t kRowsAtOnce = 4096;
constexpr std::int64_t kMostCellValues = 255;
constexpr std::int64_t kSniffedBytes = 1 << 18; // boards of a large maze
constexpr std::int64_t kSmallestSudoku = 16;
constexpr std::size_t kQuestion = 1; // columns by position
constexpr std::size_t kAnswer = 2;

[[noreturn]] void fail_puzzles(const fs::path& path, const std::string& text,
                               const std::string& hint) {
    throw Error(ErrorKind::data, path.string(), text, hint);
}

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

/// A CSV file of boards, a row at a time.
class PuzzleTable {
public:
    PuzzleTable(const fs::path& path, const OpenContext& context, PuzzleKind kind)
        : path_(path), reader_(path, ','), watch_(context, {.name = path.filename().string(),
                                                            .unit = "puzzles",
                                                            .total_bytes = reader_.bytes()}),
          rows_(puzzle_rows(kind)) {}

    PuzzleSet read() {
        std::vector<std::string> fields;
        if (!reader_.next(fields)) {
            fail_puzzles(path_, "the file is empty", "It needs a header and a row per puzzle.");
        }
        while (reader_.next(fields)) {
            add(fields);
            watch_.reached(out_.boards(), reader_.bytes_read());
        }
        if (out_.boards() == 0) {
            fail_puzzles(path_, "there is no puzzle behind the header",
                         "Each row holds source, question, answer and rating.");
        }
        out_.groups.push_back(out_.boards());
        return std::move(out_);
    }

private:
    [[noreturn]] void fail_row(const std::string& text, const std::string& hint) const {
        fail_puzzles(path_, "line " + std::to_string(reader_.line()) + ": " + text, hint);
    }

    void add(const std::vector<std::string>& fields) {
        if (fields.size() <= kAnswer) {
            fail_row("it has " + std::to_string(fields.size()) + " columns",
                     "Each row holds source, question, answer and rating.");
        }
        const PuzzleRows::Fault fault =
            rows_->add(fields[kQuestion], fields[kAnswer], out_.inputs, out_.labels);
        if (!fault.text.empty()) {
            fail_row(fault.text, fault.hint);
        }
        out_.cells = rows_->cells();
        out_.vocabulary = rows_->vocabulary();
        out_.groups.push_back(out_.boards() - 1);
    }

    fs::path path_;
    CsvReader reader_;
    OpeningWatch watch_;
    std::unique_ptr<PuzzleRows> rows_;
    PuzzleSet out_;
};

/// A folder as puzzle sets are published (TinyRecursiveModels, dataset/).
class PuzzleFolder {
public:
    PuzzleFolder(const fs::path& path, const OpenContext& context)
        : path_(path), context_(context) {}

    PuzzleSet read() {
        read_description();
        PuzzleSet out;
        out.vocabulary = number("vocab_size", 2, kMostCellValues);
        out.cells = number("seq_len", 1, 1 << 20);
        out.identifiers = number("num_puzzle_identifiers", 1, kMostIdentifiers);
        const Json ignored = told_.value("ignore_label_id", Json());
        out.ignored = ignored.is_number_integer() ? ignored.get<std::int64_t>() : -1;
        const ArrayData inputs = array("inputs", 2, out.cells);
        const ArrayData labels = array("labels", 2, out.cells);
        if (inputs.samples() != labels.samples()) {
            fail_puzzles(inputs.name,
                         format_thousands(inputs.samples()) + " boards, but " +
                             format_thousands(labels.samples()) + " labels",
                         "The two belong together; copy both again.");
        }
        out.inputs = bytes(inputs, out.vocabulary);
        out.labels = bytes(labels, out.vocabulary);
        const std::vector<std::int64_t> puzzles = offsets("puzzle_indices", inputs.samples());
        for (const std::int64_t first :
             offsets("group_indices", static_cast<std::int64_t>(puzzles.size()) - 1)) {
            out.groups.push_back(puzzles[static_cast<std::size_t>(first)]);
        }
        if (out.identifiers > 1) {
            out.kinds = kinds(puzzles, out.identifiers);
        }
        if (std::ssize(puzzles) - 1 < out.boards()) {
            out.puzzles = puzzles;
        }
        return out;
    }

private:
    void read_description() {
        const fs::path file = path_ / "dataset.json";
        told_ = Json::parse(read_file(file, kMostDescription, ErrorKind::data), nullptr, false);
        if (!told_.is_object()) {
            fail_puzzles(file, "it is no JSON object", "Copy the file again.");
        }
        const Json sets = told_.value("sets", Json());
        if (sets.is_array() && sets != Json::array({"all"})) {
            fail_puzzles(file, "it has other sets than \"all\": " + shown(sets.dump()),
                         "Only files all__*.npy are read.");
        }
    }

    std::int64_t number(const char* name, std::int64_t least, std::int64_t most) const {
        const Json value = told_.value(name, Json());
        if (!value.is_number_integer() || value < least || value > most) {
            fail_puzzles(path_ / "dataset.json",
                         std::string(name) + " is " + shown(value.dump()) + ", but must lie from " +
                             std::to_string(least) + " to " + std::to_string(most),
                         "Write the number that the files have.");
        }
        return value.get<std::int64_t>();
    }

    ArrayData array(const char* name, std::size_t rank, std::int64_t width) const {
        ArrayData out = open_npy(path_ / ("all__" + std::string(name) + ".npy"), LoadArray::yes);
        if (out.shape.size() != rank || !is_integer(out.element) ||
            (rank == 2 && out.shape[1] != width)) {
            fail_puzzles(out.name,
                         rank == 2 ? "it is no array of whole numbers with " +
                                         std::to_string(width) + " columns, as seq_len says"
                                   : "it is no row of whole numbers",
                         "Copy the file again.");
        }
        return out;
    }

    std::vector<std::uint8_t> bytes(const ArrayData& data, std::int64_t bound) const {
        OpeningWatch watch(context_,
                           {.name = data.name, .unit = "boards", .total = data.samples()});
        const std::int64_t width = data.row_elements();
        std::vector<std::uint8_t> out;
        out.reserve(static_cast<std::size_t>(data.samples() * width));
        std::vector<double> rows;
        for (std::int64_t first = 0; first < data.samples(); first += kRowsAtOnce) {
            const std::int64_t count = std::min(kRowsAtOnce, data.samples() - first);
            rows.resize(static_cast<std::size_t>(count * width));
            data.read(first, rows);
            for (const double value : rows) {
                if (!(value >= 0.0 && value < static_cast<double>(bound))) {
                    fail_puzzles(data.name,
                                 "a cell is " + config::number_text(value) +
                                     ", but vocab_size is " + std::to_string(bound),
                                 "Copy the file again, or correct dataset.json.");
                }
                out.push_back(static_cast<std::uint8_t>(value));
            }
            watch.reached(first + count);
        }
        return out;
    }

    /// The identifier of each board.
    std::vector<std::int32_t> kinds(const std::vector<std::int64_t>& puzzles,
                                    std::int64_t bound) const {
        const ArrayData data = array("puzzle_identifiers", 1, 0);
        if (data.samples() != std::ssize(puzzles) - 1) {
            fail_puzzles(data.name,
                         format_thousands(data.samples()) + " identifiers, but " +
                             format_thousands(std::ssize(puzzles) - 1) + " puzzles",
                         "The two belong together; copy both again.");
        }
        std::vector<double> values(static_cast<std::size_t>(data.samples()));
        data.read(0, values);
        std::vector<std::int32_t> out;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (!(values[i] >= 0.0 && values[i] < static_cast<double>(bound))) {
                fail_puzzles(data.name,
                             "the identifier of puzzle " + std::to_string(i + 1) + " is " +
                                 config::number_text(values[i]) +
                                 ", but num_puzzle_identifiers is " + std::to_string(bound),
                             "Copy the file again, or correct dataset.json.");
            }
            out.resize(static_cast<std::size_t>(puzzles[i + 1]),
                       static_cast<std::int32_t>(values[i]));
        }
        return out;
    }

    /// Rising from 0 to `end`.
    std::vector<std::int64_t> offsets(const char* name, std::int64_t end) const {
        const ArrayData data = array(name, 1, 0);
        std::vector<double> values(static_cast<std::size_t>(data.samples()));
        data.read(0, values);
        const bool rises = std::adjacent_find(values.begin(), values.end(), [](double a, double b) {
                               return !(a < b);
                           }) == values.end();
        if (values.size() < 2 || values.front() != 0.0 || !rises ||
            values.back() != static_cast<double>(end)) {
            fail_puzzles(data.name,
                         "its numbers do not rise from 0 to " + std::to_string(end) +
                             ", where what they divide ends",
                         "Copy the file again.");
        }
        return {values.begin(), values.end()};
    }

    fs::path path_;
    const OpenContext& context_;
    Json told_;
};

/// Whether a folder says that its boards are square and have the numbers of mazes. Those of the
/// smallest Sudoku have as many numbers, and 16 cells.
bool holds_mazes(const fs::path& folder) {
    const Json told = Json::parse(
        read_file(folder / "dataset.json", kMostDescription, ErrorKind::data), nullptr, false);
    const auto number = [&](const char* name) {
        return told.is_object() && told.contains(name) && told.at(name).is_number_integer()
                   ? told.at(name).get<std::int64_t>()
                   : 0;
    };
    const std::int64_t cells = number("seq_len");
    return number("vocab_size") == kMazeVocabulary && cells != kSmallestSudoku &&
           square_side(cells) > 1;
}

} // namespace

fs::path puzzle_part(const fs::path& path, Part part) {
    if (is_file(path)) {
        return part == Part::train ? path : fs::path();
    }
    const std::string name = part == Part::train ? "train" : "test";
    for (const fs::path& found : {path / (name + ".csv"), path / name / "dataset.json"}) {
        if (is_file(found)) {
            return found.extension() == ".csv" ? found : found.parent_path();
        }
    }
    return {};
}

bool describes_boards(const fs::path& folder, std::int64_t cells, std::int64_t vocabulary) {
    try {
        const Json told = Json::parse(
            read_file(folder / "dataset.json", kMostDescription, ErrorKind::data), nullptr, false);
        return told.is_object() && told.value("seq_len", Json()) == cells &&
               told.value("vocab_size", Json()) == vocabulary;
    } catch (const Error&) {
        return false;
    }
}

bool looks_like_puzzles(const fs::path& path, PuzzleKind kind) {
    const fs::path found = puzzle_part(path, Part::train);
    if (found.empty()) {
        return false;
    }
    try {
        if (!is_file(found)) {
            return kind == PuzzleKind::sudoku || holds_mazes(found);
        }
        if (found.extension() != ".csv") {
            return false;
        }
        CsvReader reader(found, ',', kSniffedBytes);
        std::vector<std::string> fields;
        if (!reader.next(fields) || !reader.next(fields) || fields.size() <= kAnswer) {
            return false;
        }
        std::vector<std::uint8_t> inputs;
        std::vector<std::uint8_t> labels;
        return puzzle_rows(kind)
            ->add(fields[kQuestion], fields[kAnswer], inputs, labels)
            .text.empty();
    } catch (const Error&) {
        return false; // another format says what is wrong
    }
}

PuzzleSet read_puzzles(const fs::path& path, const OpenContext& context, PuzzleKind kind) {
    return is_file(path) ? PuzzleTable(path, context, kind).read()
                         : PuzzleFolder(path, context).read();
}

} // namespace weft::data
