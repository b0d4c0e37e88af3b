// SPDX-License-Identifier: Apache-2.0
// weft eval RUN|CHECKPOINT: metrics of a split.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/model_options.h"
#include "core/base/error.h"
#include "core/train/evaluation.h"
#include "core/train/left_out.h"

namespace weft::cli {
namespace {

struct EvalOptions {
    ModelOptions model;
    std::string split = "test";
    bool json = false;
};

int evaluate_model(const EvalOptions& options, const Context& context) {
    train::LoadedModel model = load(options.model, context);
    const auto source = split_of(model, options.split);
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
    command.flag("--json", &options->json, "print JSON");
    command.callback(
        [options, &context] { context.exit_code = evaluate_model(*options, context); });
}

} // namespace weft::cli
