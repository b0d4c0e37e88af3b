// SPDX-License-Identifier: Apache-2.0
#include "core/train/samples.h"

#include "core/base/file.h"
#include "core/data/text/token_samples.h"
#include "core/train/boards/board_document.h"
#include "core/train/boards/trace.h"
#include "core/train/evaluation.h"
#include "core/train/generate.h"
#include "core/train/pictures/picture_document.h"
#include "core/train/program_io.h"

#include <algorithm>
#include <numeric>

namespace weft::train {
namespace {

using config::Json;

constexpr std::size_t kTopClasses = 3;

std::vector<std::int64_t> first_samples(const data::Source& source, std::int64_t count) {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(count, source.samples())));
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
}

Json classified(exec::Executor& executor, const data::Source& source, std::int64_t count) {
    const data::SampleInfo& info = source.info();
    Json samples = Json::array();
    for (const SamplePrediction& prediction :
         predict(executor, source, first_samples(source, count), kTopClasses)) {
        if (!prediction.fault.empty()) {
            continue; // the evaluation has told it
        }
        Json top = Json::array();
        for (const auto& [index, probability] : prediction.top) {
            Json entry{{"class", index}, {"probability", probability}};
            if (static_cast<std::size_t>(index) < info.class_names.size()) {
                entry["name"] = info.class_names[static_cast<std::size_t>(index)];
            }
            top.push_back(std::move(entry));
        }
        samples.push_back({{"index", prediction.index}, {"label", prediction.label}, {"top", top}});
    }
    return samples;
}

/// Targets of one sample in the units of the data's files.
std::vector<double> targets_of(const data::Source& source, std::int64_t index) {
    const data::SampleInfo& info = source.info();
    std::vector<std::byte> input(static_cast<std::size_t>(info.input.bytes()));
    std::vector<float> target(static_cast<std::size_t>(info.target.shape.elements()));
    source.read(index, input, std::as_writable_bytes(std::span(target)));
    std::vector<double> values(target.begin(), target.end());
    rescale(source.target_scale(), values);
    return values;
}

Json regressed(exec::Executor& executor, const data::Source& source, std::int64_t count) {
    Json samples = Json::array();
    for (const SamplePrediction& prediction :
         predict(executor, source, first_samples(source, count), 0)) {
        if (!prediction.fault.empty()) {
            continue;
        }
        samples.push_back({{"index", prediction.index},
                           {"target", targets_of(source, prediction.index)},
                           {"prediction", prediction.values}});
    }
    return samples;
}

/// One prediction for each number to predict.
bool predicts_numbers(const exec::Executor& executor, const data::SampleInfo& info) {
    const plan::PlannedPort* port = find_result(executor, "predict", "prediction");
    return info.classes == 0 && info.target.dtype == ir::DType::f32 &&
           info.target.shape.rank() == 1 && port != nullptr &&
           port->whole.shape.elements() / port->whole.shape[0] == info.target.shape.elements();
}

/// Numbers where nobody knows their text.
std::string readable(std::span<const std::int32_t> tokens, const data::SampleInfo& info) {
    if (info.tokenizer != nullptr) {
        return info.tokenizer->decoded(tokens);
    }
    std::string text;
    for (const std::int32_t token : tokens) {
        text += (text.empty() ? "" : " ") + std::to_string(token);
    }
    return text;
}

/// Short enough that prompt and text are within the context: it is filled once.
Json continued(exec::Executor& executor, const data::Source& source, std::int64_t index,
               const SampleLimits& limits, double end_s) {
    const data::SampleInfo& info = source.info();
    const std::int64_t length = data::token_positions(info.input);
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(info.input.shape.elements()));
    source.read(index, std::as_writable_bytes(std::span(tokens)), {});
    const std::int64_t prompt = std::min(kPromptTokens, (length + 1) / 2);
    GenerateOptions options;
    options.tokens = std::min(kTextTokens, length - prompt);
    std::vector<std::int32_t> text;
    const auto given = std::span(tokens).first(static_cast<std::size_t>(prompt));
    generate(executor, given, options, [&](std::int32_t token) {
        text.push_back(token);
        return !limits.stop.stop_requested() && limits.clock.steady_s() < end_s;
    });
    const auto wanted = static_cast<std::size_t>(options.tokens);
    const auto truth = std::span(tokens).subspan(given.size(), wanted);
    return {{"index", index},
            {"prompt", readable(given, info)},
            {"text", readable(text, info)},
            {"truth", readable(truth, info)},
            {"cut", text.size() < wanted}};
}

/// From places all over the split: windows of a text follow each other.
Json continuations(exec::Executor& executor, const data::Source& source,
                   const SampleLimits& limits) {
    const double end_s = limits.clock.steady_s() + limits.seconds;
    const std::int64_t count = std::min({limits.samples, kMostTexts, source.samples()});
    Json samples = Json::array();
    for (std::int64_t i = 0; i < count; ++i) {
        if (i > 0 && (limits.stop.stop_requested() || limits.clock.steady_s() >= end_s)) {
            break;
        }
        const std::int64_t index = i * source.samples() / count;
        samples.push_back(continued(executor, source, index, limits, end_s));
    }
    return samples;
}

} // namespace

bool writes_text(const exec::Executor& executor, const data::Source& source) {
    return executor.plan().find("prefill") != nullptr &&
           executor.plan().find("decode") != nullptr &&
           data::token_positions(source.info().input) > 1;
}

std::optional<Json> sample_document(exec::Executor& executor, const data::Source& source,
                                    const std::string& split, std::int64_t step,
                                    const SampleLimits& limits) {
    const data::SampleInfo& info = source.info();
    Json document{{"step", step}, {"split", split}};
    if (limits.samples <= 0 || !predicts(executor)) {
        return std::nullopt;
    }
    if (writes_text(executor, source)) {
        document["kind"] = "text";
        document["bytes"] = info.tokenizer != nullptr;
        document["samples"] = continuations(executor, source, limits);
    } else if (info.classes > 0 && info.target.shape.rank() == 0) {
        document["kind"] = "classification";
        document["class_names"] = info.class_names;
        document["samples"] = classified(executor, source, limits.samples);
    } else if (predicts_numbers(executor, info)) {
        document["kind"] = "regression";
        document["target_names"] = info.target_names;
        document["samples"] = regressed(executor, source, limits.samples);
    } else {
        return std::nullopt;
    }
    return document;
}

std::optional<KeptSamples> keep_samples(exec::Executor& executor, const compile::RunConfig& config,
                                        const data::Source& source, const std::string& split,
                                        std::int64_t step, const SampleLimits& limits) {
    if (makes_samples(executor)) {
        auto made =
            picture_document(executor, source, split, config.section("data").at("transforms"),
                             config.seed, step, limits.samples);
        return made ? std::optional(KeptSamples{std::move(made->document), std::move(made->sheet)})
                    : std::nullopt;
    }
    if (traces(executor)) {
        auto boards = board_document(executor, source, split, step, limits.samples, limits.stop);
        return boards ? std::optional(KeptSamples{std::move(*boards), {}}) : std::nullopt;
    }
    auto document = sample_document(executor, source, split, step, limits);
    return document ? std::optional(KeptSamples{std::move(*document), {}}) : std::nullopt;
}

void write_samples(const KeptSamples& samples, const std::filesystem::path& folder,
                   const std::string& name) {
    if (!samples.sheet.empty()) {
        File sheet(folder / samples.document.at("sheet").get<std::string>(), File::Mode::write);
        sheet.write(samples.sheet);
        sheet.close();
    }
    File file(folder / name, File::Mode::write);
    // What a model writes need not be whole characters.
    file.write(samples.document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    file.close();
}

} // namespace weft::train
