// SPDX-License-Identifier: Apache-2.0
// weft eval RUN|CHECKPOINT: metrics of a split.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/model_options.h"
#include "core/base/error.h"
#include "core/train/boards/votes.h"
#include "core/train/evaluation.h"
#include "core/train/left_out.h"

namespace weft::cli {
namespace {

struct EvalOptions {
    ModelOptions model;
    std::string split = "test";
    std::int64_t votes = 0;
    bool json = false;
};

/// Samples asked in several forms.
int count_votes(const EvalOptions& options, train::LoadedModel& model, const data::Source& source) {
    const data::AskedInForms* asked = data::asked_in_forms(source);
    if (asked == nullptr) {
        throw Error(ErrorKind::usage, "--votes", "the samples of this split have one form alone",
                    "Use it with tasks of ARC in JSON, whose tests are data.validation or test.");
    }
    const train::VoteCount votes = train::vote(*model.executor, source, *asked, options.votes);
    if (options.json) {
        print_json({{"checkpoint", model.manifest.path.string()},
                    {"step", model.manifest.record.step},
                    {"split", options.split},
                    {"tasks", votes.tasks},
                    {"samples", votes.samples},
                    {"forms", options.votes},
                    {"metrics", {{"pass_at_1", votes.first}, {"pass_at_2", votes.first_two}}}});
        return 0;
    }
    std::printf("%-28s %.6g\n%-28s %.6g\n", "pass_at_1", votes.first, "pass_at_2", votes.first_two);
    return 0;
}

int evaluate_model(const EvalOptions& options, const Context& context) {
    train::LoadedModel model = load(options.model, context);
    const auto source = split_of(model, options.split);
    if (options.votes > 0) {
        return count_votes(options, model, *source);
    }
    std::vector<data::LeftOut> left_out;
    const auto metrics =
        train::evaluate(*model.executor, model.config, source, options.split, 0, {}, left_out)
            .value();
    train::LeftOutSamples told;
    const std::string news = train::note_left_out(told, options.split, left_out);
    if (!news.empty()) {
        std::fprintf(stderr, "%s\n", news.c_str());
    }
    if (metrics.empty()) {
        throw Error(ErrorKind::data, source->info().description,
                    "no target of this split counts, so there is nothing to measure",
                    "see `weft data` for its labels, or measure another split");
    }
    for (const std::string& note : source->notes()) {
        std::fprintf(stderr, "%s\n", note.c_str());
    }
    if (options.json) {
        print_json({{"checkpoint", model.manifest.path.string()},
                    {"step", model.manifest.record.step},
                    {"split", options.split},
                    {"samples", source->samples() - static_cast<std::int64_t>(left_out.size())},
                    {"left_out", left_out.size()},
                    {"metrics", metrics_json(metrics)}});
        return 0;
    }
    for (const auto& [name, value] : metrics) {
        std::printf("%-28s %.6g\n", name.c_str(), value);
    }
    return 0;
}

} // namespace

void add_eval(Command app, Context& context) {
    auto options = std::make_shared<EvalOptions>();
    const Command command = app.subcommand("eval", "measure a saved model on a split of its data");
    add_model_options(command, options->model);
    command.option("--split", &options->split, "train, validation or test")
        .one_of({"train", "validation", "test"})
        .show_default();
    command
        .option("--votes", &options->votes,
                "of tasks of ARC: ask each test in so many of its forms, and take the two "
                "answers that most of them give: pass_at_1, pass_at_2, means over tasks")
        .positive();
    command.flag("--json", &options->json, "print JSON");
    command.callback(
        [options, &context] { context.exit_code = evaluate_model(*options, context); });
}

} // namespace weft::cli
