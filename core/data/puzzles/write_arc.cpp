// SPDX-License-Identifier: Apache-2.0
#include "core/data/puzzles/write_arc.h"

#include "core/base/file.h"
#include "core/base/npy.h"

#include <array>
#include <span>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

/// An array of elements that are appended, as many as were said.
class NpyArray {
public:
    NpyArray(const fs::path& folder, const std::string& name, std::string_view type,
             std::span<const std::int64_t> shape)
        : file_(folder / ("all__" + name + ".npy")), text_(npy_beginning(type, shape)) {}

    void add(std::span<const std::uint8_t> bytes) {
        text_.append(bytes.begin(), bytes.end());
        if (text_.size() > kPieceBytes) {
            file_.part().write(text_);
            text_.clear();
        }
    }
    /// Of 32 bits, the lowest byte first.
    void add(std::int64_t number) {
        std::array<std::uint8_t, 4> bytes{};
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes.at(i) = static_cast<std::uint8_t>(number >> (8 * i));
        }
        add(bytes);
    }
    void close() {
        file_.part().write(text_);
        file_.commit();
    }

private:
    static constexpr std::size_t kPieceBytes = 1 << 20;
    FileReplacement file_;
    std::string text_;
};

/// The pairs of a task that a part has.
std::vector<const ArcPair*> pairs_of(const ArcTask& task, bool test) {
    std::vector<const ArcPair*> out;
    for (const ArcPair& pair : task.train) {
        if (!test) {
            out.push_back(&pair);
        }
    }
    for (const ArcPair& pair : task.test) {
        if (task.judged == test && pair.output.rows > 0) {
            out.push_back(&pair);
        }
    }
    return out;
}

struct ArcCounts {
    std::int64_t boards = 0, puzzles = 0, groups = 0;
};

class ArcPart {
public:
    ArcPart(const fs::path& folder, const ArcCounts& counts)
        : inputs_(folder, "inputs", "|u1", std::array{counts.boards, kArcCells}),
          labels_(folder, "labels", "|u1", std::array{counts.boards, kArcCells}),
          kinds_(folder, "puzzle_identifiers", "<i4", std::array{counts.puzzles}),
          puzzles_(folder, "puzzle_indices", "<i4", std::array{counts.puzzles + 1}),
          groups_(folder, "group_indices", "<i4", std::array{counts.groups + 1}) {
        puzzles_.add(std::int64_t{0});
        groups_.add(std::int64_t{0});
    }
    void add_board(const ArcPair& pair, const ArcPlace& place) {
        inputs_.add(arc_canvas(pair.input, place));
        labels_.add(arc_canvas(pair.output, place));
        ++written_.boards;
    }
    void end_puzzle(std::int64_t kind) {
        kinds_.add(kind);
        puzzles_.add(written_.boards);
        ++written_.puzzles;
    }
    void end_group() { groups_.add(written_.puzzles); }
    void close() {
        for (NpyArray* array : {&inputs_, &labels_, &kinds_, &puzzles_, &groups_}) {
            array->close();
        }
    }

private:
    NpyArray inputs_, labels_, kinds_, puzzles_, groups_;
    ArcCounts written_;
};

class ArcWriter {
public:
    ArcWriter(const ArcOrder& order, const OpenContext& context, const fs::path& to)
        : order_(order), to_(to), watch_(context, {.name = to.filename().string(),
                                                   .unit = "tasks",
                                                   .total = 2 * std::ssize(order.tasks)}) {
        names_.push_back("<blank>");
        for (std::size_t i = 0; i < order.tasks.size(); ++i) {
            forms_.push_back(arc_forms(order.tasks[i], order.forms, i));
            first_.push_back(std::ssize(names_));
            for (const ArcForm& form : forms_.back()) {
                const std::string name = form.name();
                names_.push_back(order.tasks[i].name + (name.empty() ? "" : "|||") + name);
            }
        }
    }

    WrittenArc write() {
        WrittenArc out{.identifiers = std::ssize(names_)};
        out.train = write_part("train", false);
        out.test = write_part("test", true);
        write_file_atomically(to_ / "identifiers.json", Json(names_).dump());
        return out;
    }

private:
    std::int64_t write_part(const std::string& name, bool test) {
        ArcCounts counts;
        for (std::size_t i = 0; i < order_.tasks.size(); ++i) {
            const auto pairs = std::ssize(pairs_of(order_.tasks[i], test));
            if (pairs > 0) {
                counts.puzzles += std::ssize(forms_[i]);
                counts.boards += std::ssize(forms_[i]) * pairs;
                ++counts.groups;
            }
        }
        if (counts.boards == 0) {
            return 0;
        }
        make_directories(to_ / name);
        ArcPart part(to_ / name, counts);
        for (std::size_t i = 0; i < order_.tasks.size(); ++i) {
            write_task(part, i, test);
            watch_.reached(++done_);
        }
        part.close();
        const Json told = {{"pad_id", 0},
                           {"ignore_label_id", 0},
                           {"blank_identifier_id", 0},
                           {"vocab_size", kArcVocabulary},
                           {"seq_len", kArcCells},
                           {"num_puzzle_identifiers", std::ssize(names_)},
                           {"total_groups", counts.groups},
                           {"mean_puzzle_examples", static_cast<double>(counts.boards) /
                                                        static_cast<double>(counts.puzzles)},
                           {"total_puzzles", counts.puzzles},
                           {"sets", {"all"}}};
        write_file_atomically(to_ / name / "dataset.json", told.dump());
        return counts.boards;
    }

    void write_task(ArcPart& part, std::size_t number, bool test) const {
        const auto pairs = pairs_of(order_.tasks[number], test);
        if (pairs.empty()) {
            return;
        }
        SudokuDraws draws(RandomStream(order_.seed, "data.arc.place"), number);
        for (std::size_t form = 0; form < forms_[number].size(); ++form) {
            const int stays = draws.below(static_cast<int>(pairs.size()));
            for (std::size_t i = 0; i < pairs.size(); ++i) {
                const ArcForm& how = forms_[number][form];
                const ArcPair pair{how.of(pairs[i]->input), how.of(pairs[i]->output)};
                const bool moves = !test && static_cast<int>(i) != stays;
                part.add_board(pair, moves ? draw_place(pair, draws) : ArcPlace());
            }
            part.end_puzzle(first_[number] + static_cast<std::int64_t>(form));
        }
        part.end_group();
    }

    const ArcOrder& order_;
    fs::path to_;
    OpeningWatch watch_;
    std::vector<std::vector<ArcForm>> forms_; // by task
    std::vector<std::int64_t> first_;         // identifier of each task as it is
    std::vector<std::string> names_;          // by identifier
    std::int64_t done_ = 0;
};

} // namespace

WrittenArc write_arc(const ArcOrder& order, const OpenContext& context, const fs::path& to) {
    std::error_code ignored;
    if (fs::exists(to, ignored)) {
        throw Error(ErrorKind::usage, to.string(), "is there already",
                    "Name a new folder, or remove this one.");
    }
    make_directories(to);
    return ArcWriter(order, context, to).write();
}

} // namespace weft::data
