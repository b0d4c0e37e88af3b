// SPDX-License-Identifier: Apache-2.0
#include "core/train/find_meshes.h"

#include "core/compile/programs/programs.h"
#include "core/train/engine.h"

#include <algorithm>
#include <limits>

namespace weft::train {

std::optional<std::int64_t> limit_of_device(const plan::ExecutionPlan& plan) {
    if (!plan.limit_bytes) {
        return std::nullopt;
    }
    return plan.device == "cpu"
               ? std::max<std::int64_t>(0, *plan.limit_bytes - plan.host.bytes()) /
                     plan.mesh.devices()
               : *plan.limit_bytes;
}

advise::MeshAdvice find_meshes(const compile::RunConfig& config, const data::DataOutline& data,
                               const PlanTarget& target, std::optional<std::int64_t> limit_bytes,
                               const std::stop_token& stop, const std::function<void()>& planned) {
    const advise::Planner made = step_planner(data, target, stop);
    const advise::Planner planner = [&](const compile::RunConfig& one) {
        plan::ExecutionPlan out = made(one);
        if (planned) {
            planned();
        }
        return out;
    };
    return advise::search_meshes(
        config, planner, *target.cost, compile::count_parameters(config, data.sample),
        limit_bytes.value_or(std::numeric_limits<std::int64_t>::max()), stop,
        // Back ends of this machine are asked by one thread at a time.
        target.hardware != nullptr ? thread_count(target.threads) : 1);
}

} // namespace weft::train
