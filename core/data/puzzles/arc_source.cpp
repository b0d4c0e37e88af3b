// SPDX-License-Identifier: Apache-2.0
#include "core/data/puzzles/arc_source.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "core/data/forms.h"
#include "core/data/puzzles/puzzle_source.h"

#include <cstring>
#include <map>

namespace weft::data {
namespace {

constexpr std::uint64_t kArcDraws = 8; // numbers that a sample takes of its epoch's stream

/// What training numbers, by task: its forms, and the identifier of the first, the task as it is.
struct ArcEncoding final : Encoding {
    struct Known {
        std::int64_t first = 0;
        std::vector<ArcForm> forms;
    };
    std::map<std::string, Known> tasks;
    std::int64_t identifiers = 1;
};

/// As AskedInForms compares answers.
std::string text_of_grid(const ArcGrid& grid) {
    std::string out = std::to_string(grid.rows) + "x" + std::to_string(grid.columns) + " ";
    for (const std::uint8_t cell : grid.cells) {
        out += std::to_string(cell);
    }
    return grid.rows == 0 ? std::string() : out;
}

/// A sample by its task and pair.
struct ArcPlaceOfPair {
    std::int32_t task, pair;
    bool of_test;
};

class ArcSource final : public Source, public AskedInForms {
public:
    ArcSource(ArcSamples samples, const OpenContext& context, Notes& notes)
        : samples_(std::move(samples)), stream_(context.seed, "data.arc.change") {
        encoding_ = std::dynamic_pointer_cast<const ArcEncoding>(context.encoding);
        if (encoding_ == nullptr) {
            number_tasks(context);
        }
        for (const ArcTask& task : samples_.tasks) {
            const auto found = encoding_->tasks.find(task.name);
            known_.push_back(found == encoding_->tasks.end() ? nullptr : &found->second);
        }
        count_bytes(context.encoding == nullptr);
        list_pairs(context, notes);
        info_ = arc_info(encoding_->identifiers);
        info_.description = "ARC, " + format_thousands(std::ssize(samples_.tasks)) + " tasks, " +
                            format_thousands(std::ssize(pairs_)) + " pairs in " +
                            format_thousands(encoding_->identifiers - 1) + " forms";
        fingerprint_ = "arc " + std::to_string(pairs_.size()) + " pairs, " +
                       std::to_string(encoding_->identifiers) + " identifiers, " +
                       std::to_string(checksum());
    }

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return std::ssize(pairs_); }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        write(index, 0, {}, input, target);
    }
    void read_in_epoch(std::int64_t index, std::int64_t epoch, std::span<std::byte> input,
                       std::span<std::byte> target) const override {
        SudokuDraws draws(stream_, static_cast<std::uint64_t>(epoch),
                          static_cast<std::uint64_t>(index) * kArcDraws);
        const int form = draws.below(static_cast<int>(forms(index)));
        const ArcPair turned = in_form(index, form);
        write(index, form, samples_.moves ? draw_place(turned, draws) : ArcPlace(), input, target);
    }
    std::int32_t label(std::int64_t) const override { return -1; }
    std::string place_of(std::int64_t index) const override {
        const ArcPlaceOfPair& at = place(index);
        return samples_.tasks[static_cast<std::size_t>(at.task)].name +
               (at.of_test ? ", test pair " : ", train pair ") + std::to_string(at.pair + 1);
    }
    std::int64_t cache_bytes() const override { return bytes_; }
    std::string fingerprint() const override { return fingerprint_; }
    std::shared_ptr<const Encoding> encoding() const override { return encoding_; }

    std::int64_t forms(std::int64_t index) const override {
        const ArcEncoding::Known* known = known_[static_cast<std::size_t>(place(index).task)];
        return known == nullptr ? 1 : std::ssize(known->forms);
    }
    void read_form(std::int64_t index, std::int64_t form,
                   std::span<std::byte> input) const override {
        write(index, form, {}, input, {});
    }
    std::string answer_in_form(std::int64_t index, std::int64_t form,
                               std::span<const std::int32_t> cells) const override {
        return text_of_grid(form_of(index, form).undone().of(grid_on_canvas(cells)));
    }
    std::string right_answer(std::int64_t index) const override {
        return text_of_grid(pair_at(index).output);
    }
    std::string task(std::int64_t index) const override {
        return samples_.tasks[static_cast<std::size_t>(place(index).task)].name;
    }

private:
    void number_tasks(const OpenContext& context) {
        OpeningWatch watch(
            context, {.name = samples_.name, .unit = "tasks", .total = std::ssize(samples_.tasks)});
        auto own = std::make_shared<ArcEncoding>();
        for (std::size_t i = 0; i < samples_.tasks.size(); ++i) {
            const ArcTask& task = samples_.tasks[i];
            ArcEncoding::Known known{own->identifiers, arc_forms(task, samples_.forms, i)};
            own->identifiers += std::ssize(known.forms);
            own->tasks.emplace(task.name, std::move(known));
            if (own->identifiers > kMostIdentifiers) {
                throw Error(ErrorKind::data, samples_.name,
                            "tasks and their forms have more than " +
                                format_thousands(kMostIdentifiers) + " identifiers",
                            "Set data.train.augmentations to less.");
            }
            watch.reached(static_cast<std::int64_t>(i) + 1);
        }
        encoding_ = own;
    }

    /// Without forms that another part keeps.
    void count_bytes(bool numbers) {
        for (const auto* known : known_) {
            bytes_ += numbers ? std::ssize(known->forms) * std::int64_t{sizeof(ArcForm)} : 0;
        }
        for (const ArcTask& task : samples_.tasks) {
            for (const auto* pairs : {&task.train, &task.test}) {
                for (const ArcPair& pair : *pairs) {
                    bytes_ += std::ssize(pair.input.cells) + std::ssize(pair.output.cells) +
                              static_cast<std::int64_t>(sizeof(ArcPair));
                }
            }
        }
    }

    void list_pairs(const OpenContext& context, Notes& notes) {
        const bool judged = samples_.pairs == ArcSamples::Pairs::test;
        std::int64_t unanswered = 0;
        std::int64_t strangers = 0;
        for (std::size_t i = 0; i < samples_.tasks.size(); ++i) {
            const ArcTask& task = samples_.tasks[i];
            const auto number = static_cast<std::int32_t>(i);
            for (std::size_t pair = 0; !judged && pair < task.train.size(); ++pair) {
                pairs_.push_back({number, static_cast<std::int32_t>(pair), false});
            }
            for (std::size_t pair = 0; task.judged == judged && pair < task.test.size(); ++pair) {
                if (task.test[pair].output.rows == 0 &&
                    (!judged || context.targets == OpenContext::Targets::needed)) {
                    ++unanswered;
                    continue;
                }
                pairs_.push_back({number, static_cast<std::int32_t>(pair), true});
            }
            strangers += known_[i] == nullptr ? 1 : 0;
        }
        if (unanswered > 0) {
            notes.push_back(Note(samples_.name + " has " + format_thousands(unanswered) +
                                 " test pairs without an answer, which are left out"));
        }
        if (strangers > 0) {
            notes.push_back(Note(samples_.name + " has " + format_thousands(strangers) +
                                 " tasks that were not trained on: what their pairs show is not "
                                 "known"));
        }
        if (pairs_.empty()) {
            throw Error(ErrorKind::data, samples_.name,
                        judged ? "no test pair has an answer" : "no task has a pair",
                        judged ? "Put the answers beside the tasks: ..._solutions.json."
                               : "Check data.train.path.");
        }
    }

    const ArcPlaceOfPair& place(std::int64_t index) const {
        return pairs_.at(static_cast<std::size_t>(index));
    }

    const ArcPair& pair_at(std::int64_t index) const {
        const ArcPlaceOfPair& at = place(index);
        const ArcTask& task = samples_.tasks[static_cast<std::size_t>(at.task)];
        return (at.of_test ? task.test : task.train)[static_cast<std::size_t>(at.pair)];
    }

    ArcForm form_of(std::int64_t index, std::int64_t form) const {
        const ArcEncoding::Known* known = known_[static_cast<std::size_t>(place(index).task)];
        return known == nullptr ? ArcForm() : known->forms.at(static_cast<std::size_t>(form));
    }

    ArcPair in_form(std::int64_t index, std::int64_t form) const {
        const ArcForm how = form_of(index, form);
        const ArcPair& pair = pair_at(index);
        return {how.of(pair.input), how.of(pair.output)};
    }

    void write(std::int64_t index, std::int64_t form, const ArcPlace& at,
               std::span<std::byte> input, std::span<std::byte> target) const {
        const ArcEncoding::Known* known = known_[static_cast<std::size_t>(place(index).task)];
        const auto kind = static_cast<std::int32_t>(known == nullptr ? 0 : known->first + form);
        const ArcPair pair = in_form(index, form);
        std::memcpy(input.data(), &kind, sizeof kind);
        write_cells(arc_canvas(pair.input, at), false, input.subspan(sizeof kind));
        if (!target.empty()) {
            write_cells(arc_canvas(pair.output, at), true, target);
        }
    }

    /// Nothing is learnt from pads, and of an answer that nobody knows all are.
    static void write_cells(std::span<const std::uint8_t> cells, bool target,
                            std::span<std::byte> to) {
        WEFT_CHECK(to.size() == cells.size() * sizeof(std::int32_t), "a sample has its size");
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::int32_t value = target && cells[i] == 0 ? -1 : std::int32_t{cells[i]};
            std::memcpy(to.data() + i * sizeof value, &value, sizeof value);
        }
    }

    std::uint32_t checksum() const {
        std::vector<std::uint8_t> all;
        for (std::int64_t i = 0; i < samples(); ++i) {
            for (const ArcGrid* grid : {&pair_at(i).input, &pair_at(i).output}) {
                all.push_back(static_cast<std::uint8_t>(grid->rows));
                all.push_back(static_cast<std::uint8_t>(grid->columns));
                all.insert(all.end(), grid->cells.begin(), grid->cells.end());
            }
        }
        return crc32c(std::as_bytes(std::span(all)));
    }

    ArcSamples samples_;
    RandomStream stream_;
    std::vector<const ArcEncoding::Known*> known_; // by task; null: it was not trained on
    std::vector<ArcPlaceOfPair> pairs_;
    std::shared_ptr<const ArcEncoding> encoding_;
    SampleInfo info_;
    std::int64_t bytes_ = 0;
    std::string fingerprint_;
};

} // namespace

SampleInfo arc_info(std::int64_t identifiers) {
    SampleInfo out;
    out.input = {ir::DType::i32, {kArcCells + 1}};
    out.target = {ir::DType::i32, {kArcCells}};
    out.classes = kArcVocabulary;
    out.class_names = {"pad", "end"};
    for (std::size_t colour = 0; colour < kArcColours; ++colour) {
        out.class_names.push_back("colour " + std::to_string(colour));
    }
    out.description = "ARC";
    out.board = {.rows = kArcSide, .columns = kArcSide, .symbols = "_|0123456789"};
    out.identifiers = identifiers;
    return out;
}

std::shared_ptr<const Source> arc_source(ArcSamples samples, const OpenContext& context,
                                         Notes& notes) {
    return std::make_shared<ArcSource>(std::move(samples), context, notes);
}

} // namespace weft::data
