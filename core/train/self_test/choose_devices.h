// SPDX-License-Identifier: Apache-2.0
// What mesh.devices "auto" comes to on this machine: the first GPU that passes its self-test and
// whose free memory holds the plan, else the CPU.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/train/planning.h"
#include "core/train/self_test/gpu_verdict.h"

#include <string>
#include <vector>

namespace weft::train {

/// Whether the configuration leaves it to the machine.
bool leaves_devices_open(const compile::RunConfig& config);

/// The GPUs of this machine by their numbers, with what is known of them without a test. Empty
/// where there are none.
std::vector<FoundGpu> gpus_here();

struct ChosenDevices {
    std::string devices; // for mesh.devices
    std::string why;     // "computes on cuda, NVIDIA H100: it passed its self-test"
};
/// For a run of `config`, which leaves it open. Says which GPUs did not pass. Where none has the
/// memory it takes the one with the most, for which the run is refused.
ChosenDevices choose_devices(const compile::RunConfig& config, const PlanTarget& target,
                             const OnTest& on_test);

/// The configuration as a run of it is to be planned: where it leaves its devices open, on those
/// that it takes if GPUs of which nothing is known pass. `target` has the GPUs, and says why.
compile::RunConfig on_planned_devices(const compile::RunConfig& config,
                                      const data::DataOutline& data, PlanTarget& target,
                                      const std::stop_token& stop);

} // namespace weft::train
