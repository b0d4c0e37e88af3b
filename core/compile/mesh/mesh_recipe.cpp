// SPDX-License-Identifier: Apache-2.0
#include "core/compile/mesh/mesh_recipe.h"

#include "core/compile/mesh/mesh_config.h"
#include "core/compile/programs/programs.h"

namespace weft::compile {

plan::MeshRecipe mesh_recipe(const RunConfig& config) {
    const config::Json& model = config.section("model");
    const auto layers = model.find("layers");
    plan::MeshRecipe out;
    out.name = config.name;
    out.model = config.model_type();
    out.placement = placement_of(config.section("mesh"));
    out.global_batch_size = config.global_batch_size;
    out.micro_batch_size = plan_batch(config).micro_batch_size;
    out.sequence_length = config.context();
    out.layers =
        layers != model.end() && layers->is_number_integer() ? layers->get<std::int64_t>() : 0;
    out.precision = config.precision;
    if (config.scales_loss()) {
        out.loss_scale = {config.loss_scale->initial, config.loss_scale->growth_interval,
                          config.loss_scale->hysteresis, config.loss_scale->minimum};
    }
    out.recompute = config.recompute;
    out.max_grad_norm = config.max_grad_norm;
    return out;
}

} // namespace weft::compile
