// SPDX-License-Identifier: Apache-2.0
#include "app/cli/model_options.h"

#include "app/cli/store_paths.h"
#include "core/base/error.h"

#include <cstdio>

namespace weft::cli {
namespace {

// The saved configuration with the data section of another file.
compile::RunConfig with_data_of(const std::string& path, const config::Json& saved) {
    const compile::CheckedRun other = compile::read_run_config_file(path);
    if (!other.ok()) {
        throw Error(ErrorKind::usage, path, config::to_text(other.diagnostics.front()),
                    "see `weft check`");
    }
    config::Json document = saved;
    document["data"] = other.config.document.at("data");
    compile::CheckedRun mixed = compile::read_run_config(document, other.config.base_dir);
    if (!mixed.ok()) {
        throw Error(ErrorKind::usage, path, config::to_text(mixed.diagnostics.front()),
                    "its data must suit the saved model");
    }
    return std::move(mixed.config);
}

} // namespace

void add_model_options(Command command, ModelOptions& options) {
    command.positional("MODEL", &options.path, "run folder or checkpoint").required();
    command.option("--from", &options.from, "of a run: best, latest or a step").show_default();
    command.option("--data", &options.data, "take the data section of this configuration");
}

train::LoadedModel load(const ModelOptions& options, const Context& context) {
    const std::filesystem::path checkpoint = checkpoint_at(options.path, options.from, context);
    std::fprintf(stderr, "Checkpoint: %s\n", checkpoint.c_str());
    if (options.data.empty()) {
        return train::load_model(checkpoint, nullptr, context.threads);
    }
    const compile::RunConfig config =
        with_data_of(options.data, checkpoint::read_manifest(checkpoint).record.config);
    return train::load_model(checkpoint, &config, context.threads);
}

std::shared_ptr<const data::Source> split_of(const train::LoadedModel& model,
                                             const std::string& split) {
    const auto source = split == "train"        ? model.data.train
                        : split == "validation" ? model.data.validation
                                                : model.data.test;
    if (source == nullptr) {
        throw Error(ErrorKind::usage, "--split " + split, "this data has no such split",
                    "choose another of train, validation, test");
    }
    return source;
}

void check_look_file(const std::string& file) {
    if (!file.empty() && std::filesystem::path(file).extension() != ".npz") {
        throw Error(ErrorKind::usage, "--inside", file + " does not end in .npz",
                    "Name a file for NumPy, such as --inside inside.npz.");
    }
}

std::string look_line(const train::SampleLook& look, const std::string& file) {
    std::int64_t heads = 0;
    for (const train::AttentionLook& one : look.attention) {
        heads += one.heads;
    }
    const auto count = [](std::int64_t n, const std::string& one) {
        return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
    };
    return file + ": " + count(std::ssize(look.layers), "layer") +
           (heads > 0 ? ", " + count(heads, "attention head") : "");
}

} // namespace weft::cli
