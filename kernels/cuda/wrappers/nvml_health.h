// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/weft_health.h"

#include <string>

namespace weft::kernels::cuda {

/// What NVML knows of the GPU at that place on the PCI bus: memory in use, utilisation, power and
/// temperature, or why not.
void add_nvml_facts(const std::string& bus, weft_device_health& health);

/// Throws Failure where NVML does not know the GPUs.
weft_device_link nvml_link(const std::string& one_bus, const std::string& other_bus);

} // namespace weft::kernels::cuda
