// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/data/trained_weights.h"

#include "core/base/error.h"
#include "core/data/text/encode_text.h"
#include "core/foreign/arrays.h"
#include "core/foreign/describe.h"
#include "core/train/engine.h"

namespace weft::ui {
namespace {

advise::Trained readForeign(const std::filesystem::path& weights,
                            const std::filesystem::path& config) {
    const foreign::ForeignModel model = foreign::read_foreign_config(config);
    for (const config::Diagnostic& problem : model.problems) {
        if (problem.severity == config::Severity::error) {
            throw Error(ErrorKind::usage, config.string(), problem.message, problem.hint);
        }
    }
    const bool file = foreign::is_weights(weights);
    const std::filesystem::path from = file ? weights : config.parent_path();
    foreign::open_weights(from); // throws where there are none
    return {model.here.model, from.string(), model.tokenizer.string()};
}

/// The file that the run named where it is still the same: checkpoints come and go.
std::string tokenizerOf(const checkpoint::Manifest& manifest) {
    const compile::CheckedRun run = train::read_saved_config(manifest);
    const std::string named =
        run.ok() ? data::named_tokenizer(run.config.section("data"), run.config.base_dir) : "";
    const std::string document = checkpoint::read_tokenizer_of(manifest);
    if (document.empty()) {
        return named;
    }
    try {
        if (data::known_tokenizer(named)->document() == document) {
            return named;
        }
    } catch (const Error&) { // it is gone, or no tokenizer any more
    }
    return (std::filesystem::absolute(manifest.path) / checkpoint::kTokenizerName).string();
}

} // namespace

advise::Trained readTrained(const std::filesystem::path& weights) {
    if (const auto config = foreign::foreign_config(weights)) {
        return readForeign(weights, *config);
    }
    if (foreign::is_weights(weights)) {
        throw Error(ErrorKind::usage, weights.string(),
                    "which model these weights are of stands nowhere",
                    "put the model's config.json beside them, or open a configuration with that "
                    "model and start it from them on the page Checkpoints");
    }
    const checkpoint::Manifest manifest =
        checkpoint::read_manifest(train::find_checkpoint(weights, "latest"));
    return {manifest.record.config.at("model"), weights.string(), tokenizerOf(manifest)};
}

} // namespace weft::ui
