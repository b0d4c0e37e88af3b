// SPDX-License-Identifier: Apache-2.0
// The section "mesh" of a configuration: from names and numbers to a placement, with what is wrong.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/sharding/annotate.h"

namespace weft::compile {

/// Devices, axes, rules and overrides with every default filled in and -1 resolved. The
/// configuration was checked.
sharding::Placement placement_of(const config::Json& mesh);

/// Devices that share the samples of a microstep between them: the product of the axes that the
/// rules give to "batch".
std::int64_t data_ranks(const config::Json& mesh);

/// Devices that share the experts of a mixture: the same for "expert".
std::int64_t expert_devices(const config::Json& mesh);

/// Everything wrong with the section; `pointer` is its place ("/mesh").
void check_mesh(const config::Json& mesh, const std::string& pointer, config::Diagnostics& out);

/// Devices that "cpu:4", "cuda:4" or "cuda:0,2" names; 1 for "auto", "cpu" and "cuda". Hardware of
/// the catalogue, "h200:64", can be planned for and not run on: see is_planned_hardware. None: not
/// the name of devices.
std::optional<std::int64_t> devices_named(std::string_view text);
/// Which GPUs "cuda", "cuda:4" or "cuda:0,2" names, by their numbers; empty: no GPUs. "cuda:1," is
/// the second alone.
std::vector<int> gpus_named(std::string_view text);
bool is_planned_hardware(std::string_view devices);

} // namespace weft::compile
