// SPDX-License-Identifier: Apache-2.0
#include "core/compile/config/metric_facts.h"

#include "core/nn/loss_def.h"

namespace weft::compile {

bool higher_is_better(std::string_view metric) {
    const nn::MetricDef* known = nn::find_metric(metric.substr(metric.find('/') + 1));
    return known != nullptr ? known->higher_is_better : !metric.ends_with("loss");
}

bool predicts_classes(const RunConfig& config) {
    const nn::LossDef* loss = nn::find_loss(config.section("loss").value("type", std::string()));
    return loss == nullptr || loss->needs_classes;
}

} // namespace weft::compile
