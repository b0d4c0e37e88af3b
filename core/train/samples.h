// SPDX-License-Identifier: Apache-2.0
// What the model says of a few validation samples, the same at every evaluation, so that one can
// watch it learn: the documents of samples/step-NNNNNNNN.json. Nothing here draws from the streams
// of chance that training uses.
#pragma once

#include "core/base/clock.h"
#include "core/compile/config/run_config.h"
#include "core/data/dataset.h"
#include "core/exec/executor.h"

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

namespace weft::train {

/// Bounds of what is written at one evaluation.
struct SampleLimits {
    std::int64_t samples = 16; // continuations: at most kMostTexts of them
    double seconds = 0.5;      // for continuations: what is begun then ends there
    const Clock& clock;
    std::stop_token stop = {}; // ends continuations as the time does
};

constexpr std::int64_t kMostTexts = 4;
constexpr std::int64_t kPromptTokens = 32;
constexpr std::int64_t kTextTokens = 48;

/// Whether the model goes on with text (its "prefill" and "decode" are run).
bool writes_text(const exec::Executor& executor, const data::Source& source);

/// {"step", "kind", "split", "samples": [...]} with samples by kind:
/// "classification" {index, label, top: [{class, probability, name?}]}, and class_names;
/// "regression" {index, target: [...], prediction: [...]} in the units of the data's files, and
/// target_names; "text" {index, prompt, text, truth, cut}: `text` is what generate() writes under
/// its usual options after `prompt`, `truth` how the data goes on, `cut` whether time was short,
/// and `bytes`: they are text; else tokens are written as numbers.
/// Nullopt where a model says nothing of that kind. Throws weft::Error{data, device}.
std::optional<config::Json> sample_document(exec::Executor& executor, const data::Source& source,
                                            const std::string& split, std::int64_t step,
                                            const SampleLimits& limits);

/// What is kept of an evaluation: the document of sample_document, board_document or
/// picture_document, and the PNG beside it that its "sheet" names; empty: none.
struct KeptSamples {
    config::Json document;
    std::string sheet;
};
/// By the kind of the model. Nullopt and errors as above.
std::optional<KeptSamples> keep_samples(exec::Executor& executor, const compile::RunConfig& config,
                                        const data::Source& source, const std::string& split,
                                        std::int64_t step, const SampleLimits& limits);
/// Writes the document as `folder`/`name`. Throws weft::Error{runtime}.
void write_samples(const KeptSamples& samples, const std::filesystem::path& folder,
                   const std::string& name);

} // namespace weft::train
