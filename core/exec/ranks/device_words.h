// SPDX-License-Identifier: Apache-2.0
// What a served device tells of its runs, as JSON and bytes. Private to core/exec/ranks.
#pragma once

#include "core/config/json.h"
#include "core/exec/device_use.h"
#include "core/exec/executor.h"
#include "core/exec/world/queued_world.h"

#include <string>
#include <vector>

namespace weft::exec {

/// A kernel call that somebody observes.
struct ObservedCall {
    std::int32_t position = 0;
    double start_s = 0, end_s = 0;
    double waited_s = -1; // of an exchange; below 0: it is none
};

config::Json to_json(const DeviceUse& use);
/// Times are moved by `lead_s`; the names of actions live in `names`.
DeviceUse use_of(const config::Json& document, double lead_s, std::vector<std::string>& names);

config::Json to_json(const RunReport& report);
RunReport report_of(const config::Json& document);

/// Without their keys, which those know who have the same plan.
std::vector<std::byte> bytes_of(const GroupNames& names);
GroupNames names_of(const plan::ExecutionPlan& plan, std::span<const std::byte> bytes);

} // namespace weft::exec
