// SPDX-License-Identifier: Apache-2.0
// weft generate RUN|CHECKPOINT: text, token by token as it is made; samples, of models that make
// them, into a file.
#include "core/train/generate.h"
#include "app/cli/commands/commands.h"
#include "app/cli/model_options.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/transforms/transform.h"
#include "core/train/pictures/picture_sheet.h"
#include "core/train/sample_look/look_file.h"
#include "core/train/sample_look/sample_looker.h"

#include <cstdio>

namespace weft::cli {
namespace {

struct GenerateTextOptions {
    ModelOptions model;
    std::string prompt;
    train::GenerateOptions generate;
    std::string to;     // a file for samples
    std::string inside; // a file for what the layers make of the prompt
    std::int64_t samples = 64;
    std::optional<std::int64_t> class_number;
};

constexpr std::int64_t kGridColumns = 8;
constexpr std::int64_t kMostRows = 500'000;    // of a .png; readers take a million at most
constexpr std::int64_t kMostSamples = 100'000; // they are made before they are written

/// Said of an option that the kind of the model has no use for.
[[noreturn]] void refuse(const std::string& option, const std::string& text,
                         const std::string& hint) {
    throw Error(ErrorKind::usage, option, text, hint);
}

int generate_samples(const GenerateTextOptions& options, train::LoadedModel& model) {
    if (!options.prompt.empty()) {
        refuse("--prompt", "this model makes samples, and goes on from no text", "Leave it out.");
    }
    const std::filesystem::path to = options.to;
    const bool picture = to.extension() == ".png";
    if (!picture && to.extension() != ".npy") {
        refuse("--to",
               options.to.empty() ? "samples need a file to be written to"
                                  : options.to + " ends neither in .png nor in .npy",
               "Name one, such as --to samples.png.");
    }
    const data::Source& train = *model.data.train;
    if (picture && !train::is_picture(train.info().input)) {
        refuse("--to", "samples of " + ir::to_text(train.info().input) + " are no pictures",
               "Name a file that ends in .npy.");
    }
    if (options.samples > kMostSamples) {
        refuse("--samples", "at most " + format_thousands(kMostSamples) + " are made at a time",
               "Ask for fewer, of one --seed after the other.");
    }
    if (picture && options.samples > kGridColumns * kMostRows / train.info().input.shape[0]) {
        refuse("--to", "so many samples are more than a picture has room for",
               "Ask for fewer, or name a file that ends in .npy.");
    }
    const auto latents =
        train::draw_latents(*model.executor, options.generate.seed, options.samples);
    std::vector<std::int32_t> labels;
    if (options.class_number) {
        const std::int64_t classes = train::sample_classes(*model.executor, train.info());
        if (classes == 0) {
            refuse("--class", "this model makes samples of no class", "Leave it out.");
        }
        if (*options.class_number >= classes) {
            refuse("--class", "the classes are 0 to " + std::to_string(classes - 1),
                   "Name one of them.");
        }
        labels.assign(static_cast<std::size_t>(options.samples),
                      static_cast<std::int32_t>(*options.class_number));
    }
    const train::MadeSamples made =
        train::make_samples(*model.executor, train.info(), latents, labels);
    const config::Json fitted =
        data::fitted_for(train, model.config.section("data").at("transforms"));
    write_file_atomically(
        to, picture ? train::picture_grid(made, kGridColumns, train::pixel_scale(fitted))
                    : train::npy_file(made));
    std::printf("%s: %lld samples %s of seed %llu\n", options.to.c_str(),
                static_cast<long long>(made.count()), ir::to_text(train.info().input).c_str(),
                static_cast<unsigned long long>(options.generate.seed));
    return 0;
}

int generate_text(const GenerateTextOptions& options, const Context& context) {
    check_look_file(options.inside);
    train::LoadedModel model = load(options.model, context);
    if (train::makes_samples(*model.executor) && !options.inside.empty()) {
        refuse("--inside", "this model makes samples, and reads no prompt", "Leave it out.");
    }
    if (train::makes_samples(*model.executor)) {
        return generate_samples(options, model);
    }
    if (!options.to.empty()) {
        refuse("--to", "this model makes no samples: text goes to stdout", "Leave it out.");
    }
    const data::SampleInfo& info = model.data.train->info();
    const std::vector<std::int32_t> prompt = train::prompt_tokens(info, options.prompt);
    if (!options.inside.empty()) {
        train::SampleLooker looker(model, context.threads);
        const train::SampleLook look = looker.look_at_text(prompt);
        train::write_look(look, options.inside);
        std::fprintf(stderr, "%s\n", look_line(look, options.inside).c_str());
    }
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
    const Command command = app.subcommand("generate", "let a saved model write, or make samples");
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
    command.option("--to", &options->to,
                   "samples of a model that makes them, as a picture (.png) or array (.npy)");
    command.option("--inside", &options->inside,
                   "write what each layer makes of the prompt, and the weights of attention by "
                   "head, into a .npz");
    command.option("--samples", &options->samples, "how many samples").positive().show_default();
    command
        .option("--class", &options->class_number,
                "number of the class that samples are of; left out: one after the other")
        .not_negative();
    command.option("--seed", &options->generate.seed, "another seed, another text or other samples")
        .show_default();
    command.callback([options, &context] { context.exit_code = generate_text(*options, context); });
}

} // namespace weft::cli
