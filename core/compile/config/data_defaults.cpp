// SPDX-License-Identifier: Apache-2.0
#include "core/compile/config/data_defaults.h"

#include "core/nn/loss_def.h"
#include "core/nn/models/model_list.h"

#include <algorithm>
#include <exception>

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

/// That of a model which is made for one.
const nn::LossDef* own_loss(const Json& document) {
    const nn::ModelDef* model = nn::find_model(document.at("model").value("type", ""));
    return model == nullptr ? nullptr : nn::find_loss(model->loss);
}

Json with_defaults(const nn::LossDef& loss) {
    Json out{{"type", std::string(loss.name)}};
    out.update(config::check_fields(Json::object(), loss.fields()).value);
    return out;
}

bool reads_tokens(const Json& document) {
    const nn::ModelDef* model = nn::find_model(document.at("model").value("type", ""));
    return model != nullptr && model->language_model(document.at("model"));
}

bool data_decides(const Json& raw, const Json& document) {
    return !given(raw, "/training/global_batch_size") || !given(raw, "/training/length") ||
           (!given(raw, "/loss") && own_loss(document) == nullptr && !gives_classes(document));
}

bool has_validation(const Json& document) {
    const Json& validation = document.at("data").at("validation");
    return !validation.is_null() && validation.value("split", 1.0) > 0.0;
}

bool reads_labels(const Json& metrics) {
    return std::any_of(metrics.begin(), metrics.end(), [](const Json& name) {
        const nn::MetricDef* metric =
            name.is_string() ? nn::find_metric(name.get<std::string>()) : nullptr;
        return metric != nullptr && metric->of_labels;
    });
}

/// Values and targets from 0 to 1, and symbols, stay as they are in the files.
void leave_unscaled(const Json& raw, Json& document) {
    const Json& settings = document.at("loss");
    const nn::LossDef* loss = nn::find_loss(settings.value("type", ""));
    const nn::ModelDef* model = nn::find_model(document.at("model").value("type", ""));
    Json& train = document["data"]["train"];
    const auto leave = [&](const char* scale) {
        if (train.contains(scale) && !given(raw, (std::string("/data/train/") + scale).c_str())) {
            train[scale] = "none";
        }
    };
    if ((loss != nullptr && (loss->of_shares || loss->symbols != nullptr)) ||
        reads_labels(document.at("metrics"))) {
        leave("scale_targets");
    }
    if (settings.value("likelihood", "") == "bernoulli" ||
        (model != nullptr && model->unmoved != nullptr && model->unmoved(document.at("model")))) {
        leave("scale");
    }
}

void fill(const Json& raw, const data::DataOutline& data, Json& document) {
    if (!given(raw, "/loss") && own_loss(document) == nullptr && data.sample.classes == 0) {
        document["loss"] = {{"type", "mse"}};
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

bool gives_classes(const Json& document) {
    const Json::json_pointer place("/data/train/type");
    const Json type = document.contains(place) ? document.at(place) : Json();
    return type == "idx" || type == "images";
}

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

std::optional<data::DataOutline> look_at_data(const Json& section,
                                              const data::OpenContext& context) {
    try {
        return data::outline_data(section, context, data::Files::may_be_absent);
    } catch (const std::exception&) {
        // Whoever needs the data says what is wrong with it, with all that belongs to it.
        return std::nullopt;
    }
}

void fill_data_defaults(const Json& raw, const std::filesystem::path& base_dir,
                        const DataLook& look, Json& document) {
    if (!given(raw, "/checkpoint/metric") && !has_validation(document)) {
        document["checkpoint"]["metric"] = "train/loss";
    }
    if (const nn::LossDef* loss = own_loss(document); loss != nullptr && !given(raw, "/loss")) {
        document["loss"] = with_defaults(*loss);
    }
    Json& schedule = document["lr_schedule"];
    if (!given(raw, "/lr_schedule/metric") && schedule.contains("metric") &&
        !has_validation(document)) {
        schedule["metric"] = "train/loss";
    }
    leave_unscaled(raw, document);
    if (reads_tokens(document) || !data_decides(raw, document)) {
        return;
    }
    data::OpenContext context{base_dir, 0, document.at("seed").get<std::uint64_t>()};
    if (const auto outline = look(document.at("data"), context)) {
        fill(raw, *outline, document);
    }
}

} // namespace weft::compile
