// SPDX-License-Identifier: Apache-2.0
#include "core/data/puzzles/puzzle_set.h"

#include "core/base/text.h"
#include "core/config/pointer.h"
#include "core/data/files/csv_reader.h"
#include "core/data/files/npy_header.h"
#include "core/data/puzzles/sudoku.h"

#include <algorithm>
#include <cmath>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::int64_t kMostDescription = 1 << 20; // bytes of dataset.json
constexpr std::int64_t kRowsAtOnce = 4096;
constexpr std::int64_t kMostCellValues = 255;
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

std::optional<SudokuShape> shape_of_text(const std::string& text) {
    for (const int side : {4, 6, 9}) {
        if (text.size() == static_cast<std::size_t>(side * side)) {
            return sudoku_shape(side);
        }
    }
    return std::nullopt;
}

/// A CSV file of boards, a row at a time.
class PuzzleTable {
public:
    PuzzleTable(const fs::path& path, const OpenContext& context)
        : path_(path), reader_(path, ','), watch_(context, {.name = path.filename().string(),
                                                            .unit = "puzzles",
                                                            .total_bytes = reader_.bytes()}) {}

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

    SudokuGrid board(const std::string& text, const char* what) const {
        if (auto grid = parse_sudoku(shape_, text)) {
            return std::move(*grid);
        }
        fail_row(std::string(what) + " '" + shown(text) + "' is no board of " +
                     std::to_string(shape_.side()) + " digits",
                 "A board has " + std::to_string(shape_.cells()) +
                     " cells, each a digit from 1 to " + std::to_string(shape_.side()) +
                     " or, where it is blank, '.'.");
    }

    void add(const std::vector<std::string>& fields) {
        if (fields.size() <= kAnswer) {
            fail_row("it has " + std::to_string(fields.size()) + " columns",
                     "Each row holds source, question, answer and rating.");
        }
        if (out_.cells == 0) {
            const auto shape = shape_of_text(fields[kQuestion]);
            if (!shape) {
                fail_row("a question of " + std::to_string(fields[kQuestion].size()) + " cells",
                         "Boards have 16, 36 or 81 cells.");
            }
            shape_ = *shape;
            out_.cells = shape_.cells();
            out_.vocabulary = shape_.side() + 2;
        }
        const SudokuGrid question = board(fields[kQuestion], "question");
        const SudokuGrid answer = board(fields[kAnswer], "answer");
        if (!is_solved(shape_, answer)) {
            fail_row("the answer repeats a digit, or lacks one",
                     "Every row, column and box of an answer has each digit once.");
        }
        for (std::size_t cell = 0; cell < question.size(); ++cell) {
            if (question[cell] != 0 && question[cell] != answer[cell]) {
                fail_row("the answer does not have the digit of cell " + std::to_string(cell + 1) +
                             " of the question",
                         "An answer keeps what is given.");
            }
        }
        out_.groups.push_back(out_.boards());
        const auto stored = [](const SudokuGrid& grid, std::vector<std::uint8_t>& to) {
            std::transform(grid.begin(), grid.end(), std::back_inserter(to),
                           [](std::uint8_t digit) { return static_cast<std::uint8_t>(digit + 1); });
        };
        stored(question, out_.inputs);
        stored(answer, out_.labels);
    }

    fs::path path_;
    CsvReader reader_;
    OpeningWatch watch_;
    SudokuShape shape_;
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
        out.identifiers = number("num_puzzle_identifiers", 1, std::int64_t{1} << 40);
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

bool looks_like_puzzles(const fs::path& path) {
    const fs::path found = puzzle_part(path, Part::train);
    if (found.empty() || !is_file(found)) {
        return !found.empty();
    }
    if (found.extension() != ".csv") {
        return false;
    }
    try {
        CsvReader reader(found, ',', 4096);
        std::vector<std::string> fields;
        if (!reader.next(fields) || !reader.next(fields) || fields.size() <= kAnswer) {
            return false;
        }
        const auto shape = shape_of_text(fields[kQuestion]);
        return shape && parse_sudoku(*shape, fields[kQuestion]) &&
               parse_sudoku(*shape, fields[kAnswer]);
    } catch (const Error&) {
        return false; // another format says what is wrong
    }
}

PuzzleSet read_puzzles(const fs::path& path, const OpenContext& context) {
    return is_file(path) ? PuzzleTable(path, context).read() : PuzzleFolder(path, context).read();
}

} // namespace weft::data
