// SPDX-License-Identifier: Apache-2.0
// weft predict RUN|CHECKPOINT INPUT...: predictions on single samples. An INPUT is a number or a
// range (3, 0-9) of samples of a split, or a file: of the training data's format, or an image.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/model_options.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/train/evaluation.h"

#include <charconv>
#include <optional>

namespace weft::cli {
namespace {

struct PredictOptions {
    ModelOptions model;
    std::vector<std::string> inputs;
    std::string split = "test";
    std::size_t top = 3;
    bool json = false;
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

int predict_inputs(const PredictOptions& options, const Context& context) {
    train::LoadedModel model = load(options.model, context);
    config::Json out = config::Json::array();
    for (const std::string& input : options.inputs) {
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
        print_predictions(range ? options.split : input, source->info(),
                          train::predict(*model.executor, *source, indices, options.top),
                          options.json, out);
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
    const Command command = app.subcommand("predict", "let a saved model classify single samples");
    add_model_options(command, options->model);
    command
        .positional("INPUT", &options->inputs,
                    "sample numbers or ranges (0-9), or files: images, tables, arrays")
        .required();
    command.option("--split", &options->split, "where numbered samples come from")
        .one_of({"train", "validation", "test"})
        .show_default();
    command.option("--top", &options->top, "classes per sample").show_default();
    command.flag("--json", &options->json, "print JSON with every probability");
    command.callback(
        [options, &context] { context.exit_code = predict_inputs(*options, context); });
}

} // namespace weft::cli
