// SPDX-License-Identifier: Apache-2.0
// Which meshes a planned run could have instead on the devices that it names.
#pragma once

#include "core/advise/mesh_advice.h"
#include "core/train/planning.h"

#include <functional>
#include <optional>

namespace weft::train {

/// Memory of one device of a plan: simulated ones share what the host leaves of the limit. None:
/// there is no limit.
std::optional<std::int64_t> limit_of_device(const plan::ExecutionPlan& plan);

/// advise::search_meshes on `target`, whose cost model must be available; `limit_bytes` as
/// limit_of_device gives it. `planned` is called for every plan that is made, by any thread. Throws
/// weft::Error; stops with weft::Error{runtime}.
advise::MeshAdvice find_meshes(const compile::RunConfig& config, const data::DataOutline& data,
                               const PlanTarget& target, std::optional<std::int64_t> limit_bytes,
                               const std::stop_token& stop,
                               const std::function<void()>& planned = {});

} // namespace weft::train
