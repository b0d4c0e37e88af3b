// SPDX-License-Identifier: Apache-2.0
#include "core/compile/data_defaults.h"

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/nn/model_list.h"

#include <algorithm>

namespace weft::compile {
namespace {

using config::Json;

constexpr std::int64_t kUsualBatch = 256;
constexpr std::int64_t kUpdatesPerEpoch = 24;
constexpr std::int64_t kFittedUpdates = 2000;
constexpr std::int64_t kFewestEpochs = 5;
constexpr std::int64_t kMostEpochs = 200;
constexpr std::int64_t kSmallTable = 10'000; // samples
constexpr std::int64_t kPatience = 20;       // evaluations

bool given(const Json& raw, const char* pointer) {
    return raw.contains(Json::json_pointer(pointer));
}

bool reads_tokens(const Json& document) {
    const nn::ModelDef* model = nn::find_model(document.at("model").value("type", ""));
    return model != nullptr && model->language_model();
}

bool all_given(const Json& raw) {
    return given(raw, "/loss") && given(raw, "/training/global_batch_size") &&
           given(raw, "/training/length") && given(raw, "/training/early_stopping") &&
           given(raw, "/checkpoint/metric");
}

void fill(const Json& raw, const data::DataOutline& data, Json& document) {
    if (!given(raw, "/loss") && data.sample.classes == 0) {
        document["loss"] = {{"type", "mse"}};
    }
    if (!given(raw, "/checkpoint/metric") && !data.has_validation) {
        document["checkpoint"]["metric"] = "train/loss";
    }
    Json& training = document["training"];
    if (!given(raw, "/training/global_batch_size")) {
        training["global_batch_size"] = fitted_batch(data.samples);
    }
    if (given(raw, "/training/length")) {
        return;
    }
    const auto batch = training.at("global_batch_size").get<std::int64_t>();
    training["length"] = {{"epochs", static_cast<double>(fitted_epochs(data.samples, batch))}};
    const bool table = data.sample.input.shape.rank() == 1;
    if (!given(raw, "/training/early_stopping") && table && data.has_validation &&
        data.samples < kSmallTable) {
        training["early_stopping"] = {{"metric", "validation/loss"},
                                      {"mode", "min"},
                                      {"patience", kPatience},
                                      {"min_delta", 0.0}};
    }
}

} // namespace

std::int64_t fitted_batch(std::int64_t samples) {
    std::int64_t batch = std::clamp<std::int64_t>(samples, 1, 8);
    while (batch < kUsualBatch && samples / (2 * batch) >= kUpdatesPerEpoch) {
        batch *= 2;
    }
    return batch;
}

std::int64_t fitted_epochs(std::int64_t samples, std::int64_t batch) {
    const std::int64_t updates = std::max<std::int64_t>(1, (samples + batch - 1) / batch);
    return std::clamp((kFittedUpdates + updates - 1) / updates, kFewestEpochs, kMostEpochs);
}

void fill_data_defaults(const Json& raw, const std::filesystem::path& base_dir, Json& document) {
    if (all_given(raw) || reads_tokens(document)) {
        return;
    }
    data::OpenContext context{base_dir, 0, document.at("seed").get<std::uint64_t>()};
    try {
        fill(raw, data::outline_data(document.at("data"), context, data::Files::may_be_absent),
             document);
    } catch (const Error&) {
        // Whoever needs the data says what is wrong with it, with all that belongs to it.
    }
}

} // namespace weft::compile
