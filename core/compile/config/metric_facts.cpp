// SPDX-License-Identifier: Apache-2.0
#include "core/compile/config/metric_facts.h"

#include "core/nn/loss_def.h"
#include "core/nn/models/model_list.h"

namespace weft::compile {

bool higher_is_better(std::string_view metric) {
    const nn::MetricDef* known = nn::find_metric(metric.substr(metric.find('/') + 1));
    return known != nullptr ? known->higher_is_better : !metric.ends_with("loss");
}

bool predicts_classes(const RunConfig& config) {
    const nn::LossDef* loss = nn::find_loss(config.section("loss").value("type", std::string()));
    return loss == nullptr || loss->needs_classes;
}

bool makes_samples(const RunConfig& config) {
    const nn::ModelDef* model = nn::find_model(config.model_type());
    return model != nullptr && model->make != nullptr;
}

bool makes_samples_of_a_class(const RunConfig& config) {
    return makes_samples(config) && nn::find_model(config.model_type())->takes_labels;
}

} // namespace weft::compile
