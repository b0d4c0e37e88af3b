// SPDX-License-Identifier: Apache-2.0
// weft predict RUN|CHECKPOINT INPUT...: predictions on single samples. An INPUT is a number or a
// range (3, 0-9) of samples of a split, or a file: of the training data's format, or an image.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/model_options.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/puzzles/judge_board.h"
#include "core/train/boards/board_text.h"
#include "core/train/boards/trace.h"
#include "core/train/evaluation.h"
#include "core/train/sample_look/look_file.h"
#include "core/train/sample_look/sample_looker.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace weft::cli {
namespace {

struct PredictOptions {
    ModelOptions model;
    std::vector<std::string> inputs;
    std::string split = "test";
    std::size_t top = 3;
    bool cycles = false;
    bool json = false;
    std::string inside; // a file for what the layers make of the sample
};

struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

std::optional<Range> parse_range(const std::string& text) {
    const std::vector<std::string> parts = split(text, '-');
    std::vector<std::int64_t> numbers;
    for (const std::string& part : parts) {
        std::int64_t value = 0;
        const auto read = std::from_chars(part.data(), part.data() + part.size(), value);
        if (read.ec != std::errc() || read.ptr != part.data() + part.size()) {
            return std::nullopt;
        }
        numbers.push_back(value);
    }
    if (numbers.empty() || numbers.size() > 2 || numbers.back() < numbers.front()) {
        return std::nullopt;
    }
    return Range{numbers.front(), numbers.back()};
}

// A file, read as the training data was.
std::shared_ptr<const data::Source> open_file(const train::LoadedModel& model,
                                              const std::string& path) {
    std::error_code unreadable;
    if (!std::filesystem::exists(path, unreadable)) {
        throw Error(ErrorKind::usage, path, "is neither a sample's number nor a file that is there",
                    "Name a number (3), a range (0-9), or a file or folder.");
    }
    data::Notes notes;
    auto source =
        data::open_input(model.config.section("data"),
                         {model.config.base_dir, model.config.context(), model.config.seed},
                         *model.data.train, std::filesystem::absolute(path), notes);
    for (const std::string& note : notes) {
        std::fprintf(stderr, "%s: %s\n", path.c_str(), note.c_str());
    }
    return source;
}

void print_predictions(const std::string& input, const data::SampleInfo& info,
                       const std::vector<train::SamplePrediction>& predictions, bool json,
                       config::Json& out) {
    for (const train::SamplePrediction& prediction : predictions) {
        if (!prediction.fault.empty()) {
            std::fprintf(stderr, "%s #%lld is left out: %s\n", input.c_str(),
                         static_cast<long long>(prediction.index), prediction.fault.c_str());
            continue;
        }
        if (json) {
            config::Json entry{
                {"input", input}, {"index", prediction.index}, {"label", prediction.label}};
            entry["values"] = prediction.values;
            out.push_back(std::move(entry));
            continue;
        }
        std::printf("%s #%lld:", input.c_str(), static_cast<long long>(prediction.index));
        for (const auto& [index, probability] : prediction.top) {
            const auto at = static_cast<std::size_t>(index);
            const std::string name =
                at < info.class_names.size() ? info.class_names[at] : std::to_string(index);
            std::printf("  %s %.1f %%", name.c_str(), probability * 100);
        }
        for (std::size_t i = 0; prediction.top.empty() && i < prediction.values.size(); ++i) {
            std::printf("  %.6g", prediction.values[i]);
        }
        std::printf("%s\n", prediction.label >= 0 && !prediction.top.empty()
                                ? (prediction.label == prediction.top.front().first ? "  (right)"
                                                                                    : "  (wrong)")
                                : "");
    }
}

/// What a sample is and what should come out; labels below 0 where nobody knows.
struct Puzzle {
    std::vector<std::int32_t> given, answer; // cells
    std::vector<std::int32_t> sample = {};   // as the model takes it
};

Puzzle read_puzzle(const data::Source& source, std::int64_t index) {
    const data::SampleInfo& info = source.info();
    Puzzle out;
    out.sample.resize(static_cast<std::size_t>(info.input.shape.elements()));
    out.answer.resize(static_cast<std::size_t>(info.target.shape.elements()));
    source.read(index, std::as_writable_bytes(std::span(out.sample)),
                std::as_writable_bytes(std::span(out.answer)));
    out.given.assign(out.sample.begin() + info.lead(), out.sample.end());
    return out;
}

/// Boards beside each other, under their titles.
void print_boards(const data::BoardForm& form, const std::vector<std::string>& titles,
                  const std::vector<std::vector<std::int32_t>>& boards) {
    std::vector<std::vector<std::string>> lines;
    std::string heads;
    for (std::size_t i = 0; i < boards.size(); ++i) {
        lines.push_back(train::board_lines(form, boards[i]));
        const std::size_t width = std::max(lines[i].front().size(), titles[i].size());
        heads += "   " + titles[i] + std::string(width - titles[i].size(), ' ');
        for (std::string& line : lines[i]) {
            line.resize(width, ' ');
        }
    }
    std::printf("%s\n", heads.c_str());
    for (std::size_t row = 0; row < lines.front().size(); ++row) {
        std::string all;
        for (const auto& board : lines) {
            all += "   " + board[row];
        }
        std::printf("%s\n", all.c_str());
    }
}

void print_trace(const data::BoardForm& form, const Puzzle& puzzle, const train::Trace& trace,
                 bool cycles) {
    const std::vector<std::int32_t> said = trace.answer(trace.steps);
    const std::int64_t wrong = train::wrong_cells(said, puzzle.answer);
    const bool judged = std::any_of(puzzle.answer.begin(), puzzle.answer.end(),
                                    [](std::int32_t cell) { return cell >= 0; });
    const std::string outcome =
        !judged     ? data::is_solution(form, puzzle.given, said) ? "solved" : "not solved"
        : wrong > 0 ? std::to_string(wrong) + (wrong == 1 ? " cell wrong" : " cells wrong")
                    : "right";
    std::printf(" %s; the model %s after %lld of %lld steps\n", outcome.c_str(),
                trace.halts() ? "takes it for solved" : "has not done",
                static_cast<long long>(trace.halts_after()), static_cast<long long>(trace.steps));
    print_boards(form, {"given", "filled"}, {puzzle.given, said});
    for (std::int64_t cycle = 0; cycles && cycle < trace.all_cycles(); ++cycle) {
        const std::vector<std::int32_t> guesses = trace.guesses(cycle);
        std::printf("   step %lld cycle %lld: %s  %lld wrong\n",
                    static_cast<long long>(cycle / trace.cycles + 1),
                    static_cast<long long>(cycle % trace.cycles + 1),
                    train::board_text(form, guesses).c_str(),
                    static_cast<long long>(train::wrong_cells(guesses, puzzle.answer)));
    }
}

config::Json trace_json(const data::BoardForm& form, const Puzzle& puzzle,
                        const train::Trace& trace) {
    config::Json cycles = config::Json::array();
    for (std::int64_t cycle = 0; cycle < trace.all_cycles(); ++cycle) {
        cycles.push_back(train::board_text(form, trace.guesses(cycle)));
    }
    return {{"given", train::board_text(form, puzzle.given)},
            {"answer", train::board_text(form, puzzle.answer)},
            {"cycles", std::move(cycles)},
            {"verdicts", trace.verdicts},
            {"steps", trace.steps},
            {"halts", trace.halts()},
            {"after", trace.halts_after()}};
}

/// Whether an input is a board itself, its cells row by row.
bool is_board(const train::LoadedModel& model, const std::string& input) {
    const auto& form = model.data.train->info().board;
    std::error_code unreadable;
    return form && train::traces(*model.executor) &&
           static_cast<std::int64_t>(input.size()) == form->cells() &&
           !std::filesystem::exists(input, unreadable);
}

void print_own_board(const train::LoadedModel& model, const std::string& input,
                     const PredictOptions& options, config::Json& out) {
    const data::BoardForm& form = *model.data.train->info().board;
    Puzzle puzzle{train::parse_board(form, input), {}};
    puzzle.answer.assign(puzzle.given.size(), -1);
    const data::BoardJudgement judged = data::judge_board(form, puzzle.given);
    if (!judged.problem.empty()) {
        throw Error(ErrorKind::usage, input, judged.problem, "Write a board that has a solution.");
    }
    puzzle.sample = train::sample_of(model.data.train->info(), puzzle.given);
    train::trace(*model.executor, puzzle.sample, [&](std::int64_t, const train::Trace& trace) {
        if (options.json) {
            config::Json entry = trace_json(form, puzzle, trace);
            entry["input"] = input;
            out.push_back(std::move(entry));
        } else {
            std::printf("%s:", input.c_str());
            print_trace(form, puzzle, trace, options.cycles);
        }
        return false;
    });
}

/// Samples that a model works on step by step.
void print_traces(const std::string& input, const train::LoadedModel& model,
                  const data::Source& source, std::span<const std::int64_t> indices,
                  const PredictOptions& options, config::Json& out) {
    if (!source.info().board) {
        throw Error(ErrorKind::usage, input, "these samples are no boards that could be shown",
                    "Use puzzles of Sudoku or mazes.");
    }
    const data::BoardForm& form = *source.info().board;
    std::vector<std::int32_t> inputs;
    std::vector<Puzzle> puzzles;
    for (const std::int64_t index : indices) {
        puzzles.push_back(read_puzzle(source, index));
        inputs.insert(inputs.end(), puzzles.back().sample.begin(), puzzles.back().sample.end());
    }
    train::trace(*model.executor, inputs, [&](std::int64_t at, const train::Trace& trace) {
        const std::int64_t index = indices[static_cast<std::size_t>(at)];
        const Puzzle& puzzle = puzzles[static_cast<std::size_t>(at)];
        if (options.json) {
            config::Json entry = trace_json(form, puzzle, trace);
            entry["input"] = input;
            entry["index"] = index;
            out.push_back(std::move(entry));
        } else {
            std::printf("%s #%lld:", input.c_str(), static_cast<long long>(index));
            print_trace(form, puzzle, trace, options.cycles);
        }
        return true;
    });
}

/// What the layers make of the one sample, into a file.
void write_inside(const PredictOptions& options, const Context& context,
                  const train::LoadedModel& model, const data::Source& source, std::int64_t index) {
    std::vector<std::byte> sample(static_cast<std::size_t>(source.info().input.bytes()));
    source.read(index, sample, {});
    train::SampleLooker looker(model, context.threads);
    const train::SampleLook look = looker.look(sample);
    train::write_look(look, options.inside);
    std::fprintf(options.json ? stderr : stdout, "%s\n", look_line(look, options.inside).c_str());
}

int predict_inputs(const PredictOptions& options, const Context& context) {
    check_look_file(options.inside);
    train::LoadedModel model = load(options.model, context);
    config::Json out = config::Json::array();
    for (const std::string& input : options.inputs) {
        if (is_board(model, input)) {
            if (!options.inside.empty()) {
                throw Error(ErrorKind::usage, "--inside", "a board of one's own is not looked into",
                            "Name the number of a sample: 3.");
            }
            print_own_board(model, input, options, out);
            continue;
        }
        const auto range = parse_range(input);
        const auto source = range ? split_of(model, options.split) : open_file(model, input);
        Range wanted = range.value_or(Range{0, source->samples() - 1});
        if (wanted.last >= source->samples()) {
            throw Error(ErrorKind::usage, input,
                        "the split has samples 0 to " + std::to_string(source->samples() - 1));
        }
        std::vector<std::int64_t> indices;
        for (std::int64_t i = wanted.first; i <= wanted.last; ++i) {
            indices.push_back(i);
        }
        if (!options.inside.empty() && (options.inputs.size() > 1 || indices.size() > 1)) {
            throw Error(ErrorKind::usage, "--inside", "layers are looked at for one sample",
                        "Name one input, such as the number of a sample: 3.");
        }
        const std::string name = range ? options.split : input;
        if (train::traces(*model.executor)) {
            print_traces(name, model, *source, indices, options, out);
        } else {
            print_predictions(name, source->info(),
                              train::predict(*model.executor, *source, indices, options.top),
                              options.json, out);
        }
        if (!options.inside.empty()) {
            write_inside(options, context, model, *source, indices.front());
        }
    }
    if (options.json) {
        print_json({{"checkpoint", model.manifest.path.string()},
                    {"class_names", model.data.train->info().class_names},
                    {"predictions", std::move(out)}});
    }
    return 0;
}

} // namespace

void add_predict(Command app, Context& context) {
    auto options = std::make_shared<PredictOptions>();
    const Command command = app.subcommand("predict", "what a saved model makes of single samples");
    add_model_options(command, options->model);
    command
        .positional("INPUT", &options->inputs,
                    "sample numbers or ranges (0-9), or files: images, tables, arrays; or a board, "
                    "its cells row by row, blank ones as '.'")
        .required();
    command.option("--split", &options->split, "where numbered samples come from")
        .one_of({"train", "validation", "test"})
        .show_default();
    command.option("--top", &options->top, "classes per sample").show_default();
    command.flag("--cycles", &options->cycles,
                 "of models that work step by step: what they say after every cycle");
    command.option("--inside", &options->inside,
                   "write what each layer makes of the one sample, and the weights of attention by "
                   "head, into a .npz");
    command.flag("--json", &options->json, "print JSON with every probability");
    command.callback(
        [options, &context] { context.exit_code = predict_inputs(*options, context); });
}

} // namespace weft::cli
