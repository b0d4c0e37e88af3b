// SPDX-License-Identifier: Apache-2.0
#include "core/compile/config/metric_facts.h"

#include "core/nn/loss_def.h"
#include "core/nn/models/model_list.h"

#include <algorithm>

namespace weft::compile {

bool higher_is_better(std::string_view metric) {
    const nn::MetricDef* known = nn::find_metric(metric.substr(metric.find('/') + 1));
    return known != nullptr ? known->higher_is_better : !metric.ends_with("loss");
}

bool predicts_classes(const RunConfig& config) {
    const nn::LossDef* loss = nn::find_loss(config.section("loss").value("type", std::string()));
    if (loss != nullptr && loss->point != nullptr) {
        return false;
    }
    if (loss == nullptr || !loss->takes_either) {
        return loss == nullptr || loss->needs_classes;
    }
    const config::Json& metrics = config.section("metrics");
    return std::any_of(metrics.begin(), metrics.end(), [](const config::Json& name) {
        const nn::MetricDef* metric = nn::find_metric(name.get<std::string>());
        return metric != nullptr && metric->needs_classes && !metric->takes_either;
    });
}

bool works_in_steps(const RunConfig& config) {
    const nn::ModelDef* model = nn::find_model(config.model_type());
    return model != nullptr && model->holds_samples;
}

bool makes_samples(const RunConfig& config) {
    const nn::ModelDef* model = nn::find_model(config.model_type());
    return model != nullptr && model->make != nullptr;
}

bool makes_samples_of_a_class(const RunConfig& config) {
    return makes_samples(config) && nn::find_model(config.model_type())->takes_labels;
}

} // namespace weft::compile
