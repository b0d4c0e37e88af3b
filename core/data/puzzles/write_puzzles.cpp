// SPDX-License-Identifier: Apache-2.0
#include "core/data/puzzles/write_puzzles.h"

#include "core/base/check.h"
#include "core/base/file.h"
#include "core/base/npy.h"
#include "core/base/text.h"
#include "core/data/puzzles/maze.h"
#include "core/data/puzzles/sudoku.h"

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

/// A puzzle as files have it.
struct WrittenPuzzle {
    std::string question, answer;             // in tables
    std::vector<std::uint8_t> inputs, labels; // in arrays
    int rating = 0;
};

/// What makes the puzzles of an order, one after the other.
std::function<WrittenPuzzle()> maker_of(const PuzzleOrder& order) {
    if (order.kind == PuzzleKind::maze) {
        auto maker = std::make_shared<MazeMaker>(MazeShape{order.side, order.side}, order.seed);
        return [maker] {
            Maze maze = maker->next();
            return WrittenPuzzle{maze_text(maze.question), maze_text(maze.answer),
                                 std::move(maze.question), std::move(maze.answer), maze.length};
        };
    }
    const auto shape = sudoku_shape(order.side);
    WEFT_CHECK(shape.has_value(), "a board has 4, 6 or 9 digits");
    auto maker = std::make_shared<SudokuMaker>(*shape, order.seed);
    return [maker] {
        SudokuPuzzle puzzle = maker->next();
        WrittenPuzzle out{sudoku_text(puzzle.question), sudoku_text(puzzle.answer),
                          std::move(puzzle.question), std::move(puzzle.answer), puzzle.rating};
        for (auto* board : {&out.inputs, &out.labels}) {
            for (std::uint8_t& digit : *board) {
                digit = static_cast<std::uint8_t>(digit + 1);
            }
        }
        return out;
    };
}

std::int64_t numbers_of_cells(const PuzzleOrder& order) {
    return order.kind == PuzzleKind::maze ? kMazeVocabulary : order.side + 2;
}

/// What one part is written to.
class PartFiles {
public:
    virtual ~PartFiles() = default;
    virtual void add(const WrittenPuzzle& puzzle) = 0;
    virtual void close() = 0;
};

class CsvPart final : public PartFiles {
public:
    CsvPart(const fs::path& path, const PuzzleOrder& order)
        : file_(path), source_("weft-" + std::to_string(order.seed)) {
        text_ = "source,question,answer,rating\n";
    }
    void add(const WrittenPuzzle& puzzle) override {
        text_ += source_ + "," + puzzle.question + "," + puzzle.answer + "," +
                 std::to_string(puzzle.rating) + "\n";
        if (text_.size() > kPieceBytes) {
            file_.part().write(text_);
            text_.clear();
        }
    }
    void close() override {
        file_.part().write(text_);
        file_.commit();
    }

private:
    static constexpr std::size_t kPieceBytes = 1 << 20;
    FileReplacement file_;
    std::string source_, text_;
};

class NpyPart final : public PartFiles {
public:
    NpyPart(fs::path folder, std::int64_t cells, std::int64_t vocabulary)
        : folder_(std::move(folder)), cells_(cells), vocabulary_(vocabulary) {
        make_directories(folder_);
    }
    void add(const WrittenPuzzle& puzzle) override {
        inputs_.append(puzzle.inputs.begin(), puzzle.inputs.end());
        labels_.append(puzzle.labels.begin(), puzzle.labels.end());
        ++count_;
    }
    void close() override {
        const std::array<std::int64_t, 2> boards = {count_, cells_};
        write("inputs", "|u1", boards, inputs_);
        write("labels", "|u1", boards, labels_);
        write("puzzle_identifiers", "<i4", std::array{count_}, numbers(count_, 0));
        const std::string offsets = numbers(count_ + 1, 1);
        write("puzzle_indices", "<i4", std::array{count_ + 1}, offsets);
        write("group_indices", "<i4", std::array{count_ + 1}, offsets);
        const Json told = {{"pad_id", 0},
                           {"ignore_label_id", 0},
                           {"blank_identifier_id", 0},
                           {"vocab_size", vocabulary_},
                           {"seq_len", cells_},
                           {"num_puzzle_identifiers", 1},
                           {"total_groups", count_},
                           {"mean_puzzle_examples", 1.0},
                           {"total_puzzles", count_},
                           {"sets", {"all"}}};
        write_file_atomically(folder_ / "dataset.json", told.dump());
    }

private:
    /// 0, step, 2 step, ... of 32 bits, the lowest byte first.
    static std::string numbers(std::int64_t count, std::int64_t step) {
        std::string out;
        for (std::int64_t i = 0; i < count; ++i) {
            const auto value = static_cast<std::uint32_t>(i * step);
            for (unsigned shift = 0; shift < 32; shift += 8) {
                out += static_cast<char>(value >> shift & 0xffU);
            }
        }
        return out;
    }

    void write(const std::string& name, std::string_view type, std::span<const std::int64_t> shape,
               const std::string& elements) const {
        write_file_atomically(folder_ / ("all__" + name + ".npy"),
                              npy_beginning(type, shape) + elements);
    }

    fs::path folder_;
    std::int64_t cells_, vocabulary_;
    std::string inputs_, labels_;
    std::int64_t count_ = 0;
};

std::unique_ptr<PartFiles> part_files(const PuzzleOrder& order, const fs::path& to,
                                      const std::string& name) {
    if (order.layout == PuzzleOrder::Layout::csv) {
        return std::make_unique<CsvPart>(to / (name + ".csv"), order);
    }
    const auto side = static_cast<std::int64_t>(order.side);
    return std::make_unique<NpyPart>(to / name, side * side, numbers_of_cells(order));
}

} // namespace

void write_puzzles(const PuzzleOrder& order, const OpenContext& context, const fs::path& to) {
    WEFT_CHECK(order.train > 0 && order.test >= 0, "an order that can be met");
    std::error_code ignored;
    if (fs::exists(to, ignored)) {
        throw Error(ErrorKind::usage, to.string(), "is there already",
                    "Name a new folder, or remove this one.");
    }
    make_directories(to);
    OpeningWatch watch(
        context,
        {.name = to.filename().string(), .unit = "puzzles", .total = order.train + order.test});
    const std::function<WrittenPuzzle()> next = maker_of(order);
    std::int64_t made = 0;
    const auto write_part = [&](const std::string& name, std::int64_t count) {
        const auto files = part_files(order, to, name);
        for (std::int64_t i = 0; i < count; ++i) {
            files->add(next());
            watch.reached(++made);
        }
        files->close();
    };
    write_part("train", order.train);
    if (order.test > 0) {
        write_part("test", order.test);
    }
    if (order.layout == PuzzleOrder::Layout::npy) {
        write_file_atomically(to / "identifiers.json", R"(["<blank>"])");
    }
}

} // namespace weft::data
