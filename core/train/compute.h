// SPDX-License-Identifier: Apache-2.0
// Which devices of this machine a run computes on: the host, or GPUs, whose back end lies in a
// module that is loaded when a run names them.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/exec/compute.h"
#include "kernels/weft_health.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weft::train {

/// The back ends of the host, best first.
std::vector<const weft_backend*> backends();

/// Where modules are looked for, and where the kernels that they generate are kept. Once, before
/// anything is planned; a process that does not call it loads none.
void look_for_modules(std::vector<std::filesystem::path> folders,
                      std::filesystem::path code_folder);
bool loads_modules();

/// Whether the configuration names GPUs.
bool names_gpus(const compile::RunConfig& config);
/// What its devices compute with. Throws weft::Error{usage} that says what is missing.
exec::Compute compute_of(const compile::RunConfig& config);

/// How GPUs are asked how they are; null until a module is loaded.
const weft_health* gpu_health();

struct Gpus {
    struct Link {
        int one = 0;
        int other = 0;
        weft_device_link link{};
    };
    std::vector<weft_device_health> devices;
    std::vector<Link> links; // of all pairs, as far as they are known
    std::vector<weft_library> libraries;
    std::string missing; // why there are no devices, in one sentence
};
/// Those of this machine, none of which is opened.
Gpus find_gpus();

} // namespace weft::train
