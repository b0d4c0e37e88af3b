// SPDX-License-Identifier: Apache-2.0
// By what a run is started where nobody says it, and whether that is there.
#pragma once

#include "core/launch/request.h"

#include <cstdint>
#include <functional>
#include <string>

namespace weft::launch {

enum class Way : std::uint8_t { processes, ssh, mpirun, slurm, torchrun, kubernetes };

/// "processes", "ssh", ...; in the order of the enumeration.
const std::vector<std::string>& way_names();
std::string way_name(Way way);
/// Of a name in way_names().
Way way_of(const std::string& name);

struct WayChoice {
    Way way = Way::processes;
    std::string why; // for people; empty where there was nothing to choose
};
/// Options of Slurm or Kubernetes choose these; the back end mpi needs mpirun; hosts other than
/// this machine are reached by ssh; else processes.
WayChoice choose_way(const LaunchRequest& request, const std::string& backend,
                     const std::string& own_name);

/// Throws weft::Error{usage} that names the first program which the way needs and `installed` does
/// not find.
void require_programs(Way way, const LaunchRequest& request, const std::string& own_name,
                      const std::function<bool(const std::string&)>& installed);

/// Whether a folder of `path` ("/usr/bin:/bin") holds a program of this name.
bool is_installed(const std::string& program, const std::string& path);

} // namespace weft::launch
