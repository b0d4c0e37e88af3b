// SPDX-License-Identifier: Apache-2.0
// What Slurm writes into variables: lists of hosts and numbers of tasks, in its short form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::launch {

/// "node01" of "node[01-04,07],n7"; nullopt for what is no such list.
std::optional<std::string> first_slurm_host(std::string_view list);
/// Seconds of a time limit as sbatch takes it: "90" and "90:30" are minutes, then "1:30:00",
/// "2-12", "2-12:30" and "2-12:30:00" days. nullopt for what is none, also for "UNLIMITED".
std::optional<std::int64_t> slurm_seconds(std::string_view limit);
/// Tasks of the node with this number, of "2(x3),1": 2, 2, 2, 1. nullopt for what is no such list,
/// or a shorter one.
std::optional<int> slurm_tasks_of(std::string_view list, int node);

} // namespace weft::launch
