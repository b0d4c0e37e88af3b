// SPDX-License-Identifier: Apache-2.0
#include "core/advise/suggest_tuning.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compile/programs/programs.h"

#include <algorithm>

namespace weft::advise {
namespace {

using config::Json;

constexpr std::int64_t kRank = 8; // of a usual size (Hu et al. 2021, table 6)
constexpr double kRateOfFactors = 1e-3;
constexpr double kRateOfWeights = 1e-4;
constexpr std::int64_t kTuningBatch = 16;
constexpr std::int64_t kTuningEpochs = 5;
constexpr std::int64_t kFewestTuningSteps = 200;
constexpr std::int64_t kMostTuningSteps = 2000;

compile::RunConfig checked_run(const Json& document, const std::filesystem::path& base_dir) {
    compile::CheckedRun out = compile::read_run_config(document, base_dir);
    for (const config::Diagnostic& problem : out.diagnostics) {
        if (problem.severity == config::Severity::error) {
            throw Error(ErrorKind::usage, problem.pointer, problem.message, problem.hint);
        }
    }
    return std::move(out.config);
}

/// Whether the model has layers for factors; throws where it cannot read the samples.
bool takes_factors(const compile::RunConfig& config, const data::SampleInfo& sample) {
    try {
        compile::count_parameters(config, sample);
        return true;
    } catch (const Error& error) {
        if (error.where() != "/init/lora/targets") {
            throw;
        }
        return false;
    }
}

/// The section with the model's tokenizer where it leaves open how text is read.
Json read_as(const std::string& tokenizer, Json data_section) {
    const Json& type = data_section.at("train").at("type");
    const bool open = (type == "text" || type == "jsonl" || type == "chat") &&
                      data_section.value("tokenizer", Json()).is_null();
    if (open && !tokenizer.empty()) {
        data_section["tokenizer"] = tokenizer;
    }
    return data_section;
}

} // namespace

Suggestion suggest_tuning(const Json& given_section, const data::OpenContext& opening,
                          const std::string& name, const Trained& trained, Tuning tuning) {
    Suggestion out;
    const Json data_section = read_as(trained.tokenizer, given_section);
    const bool own_tokens =
        !trained.tokenizer.empty() && data_section.value("tokenizer", Json()) == trained.tokenizer;
    Json& run = out.document;
    run = {{"schema_version", 1},
           {"name", name},
           {"data", data_section},
           {"model", trained.model},
           {"init", {{"from", trained.from}}}};
    const compile::RunConfig plain = checked_run(run, opening.base_dir);
    data::OpenContext windows = opening;
    windows.sequence_length = plain.context();
    const data::DataOutline data = data::outline_data(data_section, windows);
    compile::count_parameters(plain, data.sample); // throws where the two do not fit
    const bool text = plain.context() > 0;

    bool factors = tuning == Tuning::factors;
    if (factors) {
        run["init"]["lora"] = {{"rank", kRank}, {"alpha", 2 * kRank}};
        factors = takes_factors(checked_run(run, opening.base_dir), data.sample);
    }
    if (factors) {
        out.reasons.push_back("low-rank factors of rank " + std::to_string(kRank) +
                              " beside the linear layers are trained; the weights stay as they "
                              "are, without gradients and optimizer state");
    } else {
        run["init"].erase("lora");
        out.reasons.emplace_back(tuning == Tuning::factors
                                     ? "the model has no blocks of linear layers for low-rank "
                                       "factors: its weights themselves are trained"
                                     : "all weights are trained, in small steps");
    }
    const Json vocab = trained.model.value("vocab", Json());
    if (text && !own_tokens && vocab.is_number_integer() && vocab != data.sample.classes) {
        out.reasons.push_back("the data has " + format_thousands(data.sample.classes) +
                              " tokens of the model's " +
                              format_thousands(vocab.get<std::int64_t>()) +
                              ": it learns to read them anew, not by its own tokenizer");
    }
    if (!text) {
        run["init"]["strict"] = false;
        if (factors) {
            run["init"]["trainable"] = {"head.*"};
        }
        out.reasons.emplace_back("the head is trained too, and begins anew where the classes are "
                                 "others than those of the weights");
    }
    const std::int64_t batch = std::min(kTuningBatch, std::max<std::int64_t>(1, data.samples));
    const std::int64_t epoch = (data.samples + batch - 1) / batch;
    const std::int64_t steps =
        std::clamp(kTuningEpochs * epoch, kFewestTuningSteps, kMostTuningSteps);
    const std::int64_t every = std::max<std::int64_t>(20, steps / 20);
    if (text) {
        run["metrics"] = {reads_bytes(data.sample) ? "bits_per_byte" : "perplexity", "accuracy"};
    }
    run["optimizer"] = {{"type", "adamw"},
                        {"learning_rate", factors ? kRateOfFactors : kRateOfWeights},
                        {"weight_decay", 0.0}};
    run["lr_schedule"] = {{"type", "warmup_cosine"}, {"end_factor", 0.05}};
    run["training"] = {
        {"length", {{"steps", steps}}}, {"global_batch_size", batch}, {"precision", "bf16"}};
    run["evaluation"] = {{"every", {{"steps", every}}}, {"max_batches", 50}};
    run["checkpoint"] = {{"every", {{"steps", every}}}};
    if (!data.has_validation) {
        run["checkpoint"]["metric"] = "train/loss";
    }
    out.reasons.push_back(format_thousands(steps) + " updates of " + std::to_string(batch) +
                          (text ? " windows of " + format_thousands(plain.context()) + " tokens"
                                : std::string(" samples")));
    return out;
}

} // namespace weft::advise
