// SPDX-License-Identifier: Apache-2.0
#include "core/train/rewind/layer_norms.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace weft::train {
namespace {

using config::Json;

/// "layers.0.weight" -> "layers.0"
std::string layer_of_parameter(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return std::string(dot == std::string_view::npos ? name : name.substr(0, dot));
}

/// The trained parameters, in the order in which the squares of their gradients are added up.
std::vector<const plan::StateSlot*> trained(const plan::ExecutionPlan& plan) {
    std::vector<const plan::StateSlot*> out;
    for (const plan::StateSlot& slot : plan.state_slots) {
        if (slot.category == plan::Category::parameters && slot.trainable) {
            out.push_back(&slot);
        }
    }
    return out;
}

} // namespace

exec::Checking watch_gradients() {
    return {"sum_squares"};
}

void LayerNorms::add(std::int64_t step, const exec::RunReport& report,
                     const plan::ExecutionPlan& plan, double loss_scale) {
    const std::vector<const plan::StateSlot*> parameters = trained(plan);
    if (report.squares.empty() || report.squares.size() != parameters.size()) {
        return;
    }
    std::vector<std::pair<std::string, double>> sums;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const exec::SeenSquares& one = report.squares[i];
        const std::string layer = layer_of_parameter(parameters[i]->name);
        if (sums.empty() || sums.back().first != layer) {
            sums.emplace_back(layer, 0.0);
        }
        sums.back().second += one.sum;
        parts_ = parts_ || parameters[i]->whole.shape.elements() != one.type.shape.elements();
    }
    const std::size_t before = steps_.size();
    steps_.push_back(step);
    for (const auto& [name, sum] : sums) {
        auto layer = std::find_if(layers_.begin(), layers_.end(),
                                  [&](const Layer& known) { return known.name == name; });
        if (layer == layers_.end()) {
            layers_.push_back({name, std::vector<double>(before, -1)});
            layer = std::prev(layers_.end());
        }
        layer->norms.resize(before, -1);
        layer->norms.push_back(std::sqrt(sum) / (loss_scale > 0 ? loss_scale : 1));
    }
}

Json LayerNorms::to_json() const {
    Json layers = Json::array();
    for (const Layer& layer : layers_) {
        Json norms = Json::array();
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const double norm = i < layer.norms.size() ? layer.norms[i] : -1;
            norms.push_back(std::isnan(norm)   ? Json("nan")
                            : std::isinf(norm) ? Json("inf")
                            : norm < 0         ? Json()
                                               : Json(norm));
        }
        layers.push_back({{"name", layer.name}, {"norms", std::move(norms)}});
    }
    return {{"steps", steps_}, {"parts", parts_}, {"layers", std::move(layers)}};
}

} // namespace weft::train
