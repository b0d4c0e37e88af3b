// SPDX-License-Identifier: Apache-2.0
// What mesh.devices "auto" comes to on this machine.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/train/self_test/gpu_verdict.h"

#include <string>

namespace weft::train {

/// Whether the configuration leaves it to the machine.
bool leaves_devices_open(const compile::RunConfig& config);

struct ChosenDevices {
    std::string devices; // for mesh.devices
    std::string why;     // "computes on cuda, NVIDIA H100: it passed its self-test"
};
/// The first GPU that passes its self-test, else the CPU. Says which did not.
ChosenDevices choose_devices(const OnTest& on_test);

} // namespace weft::train
