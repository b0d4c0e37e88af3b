// SPDX-License-Identifier: Apache-2.0
// weft generate RUN|CHECKPOINT: text, token by token as it is made.
#include "core/train/generate.h"
#include "app/cli/commands/commands.h"
#include "app/cli/model_options.h"

#include <cstdio>

namespace weft::cli {
namespace {

struct GenerateTextOptions {
    ModelOptions model;
    std::string prompt;
    train::GenerateOptions generate;
};

int generate_text(const GenerateTextOptions& options, const Context& context) {
    train::LoadedModel model = load(options.model, context);
    const data::SampleInfo& info = model.data.train->info();
    const std::vector<std::int32_t> prompt = train::prompt_tokens(info, options.prompt);
    std::fwrite(options.prompt.data(), 1, options.prompt.size(), stdout);
    std::string written;
    train::generate(*model.executor, prompt, options.generate, [&](std::int32_t token) {
        written.clear();
        info.tokenizer->decode(token, written);
        std::fwrite(written.data(), 1, written.size(), stdout);
        return std::fflush(stdout) == 0; // a reader that has gone away ends it
    });
    std::fputc('\n', stdout);
    return 0;
}

} // namespace

void add_generate(Command app, Context& context) {
    auto options = std::make_shared<GenerateTextOptions>();
    const Command command = app.subcommand("generate", "let a saved language model write");
    add_model_options(command, options->model);
    command.option("--prompt", &options->prompt, "text to go on from");
    command.option("--tokens", &options->generate.tokens, "how many tokens")
        .not_negative()
        .show_default();
    command.option("--temperature", &options->generate.temperature, "0: always the most probable")
        .not_negative()
        .show_default();
    command.option("--top-k", &options->generate.top_k, "choose among the k most probable; 0: all")
        .not_negative()
        .show_default();
    command.option("--seed", &options->generate.seed, "another seed, another text").show_default();
    command.callback([options, &context] { context.exit_code = generate_text(*options, context); });
}

} // namespace weft::cli
