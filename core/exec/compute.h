// SPDX-License-Identifier: Apache-2.0
// What a run computes on: kernels, and the devices that they belong to.
#pragma once

#include "kernels/weft_collectives.h"
#include "kernels/weft_device.h"

#include <utility>
#include <vector>

namespace weft::exec {

struct Compute {
    /// On the host, which all devices of a mesh then simulate.
    Compute(
        std::vector<const weft_backend*> kernels) // NOLINT: kernels of the host are all it takes
        : backends(std::move(kernels)) {}
    Compute(std::vector<const weft_backend*> kernels, const weft_platform* its_platform,
            const weft_collectives* between_devices, std::vector<int> its_devices)
        : backends(std::move(kernels)), platform(its_platform), collectives(between_devices),
          devices(std::move(its_devices)) {}

    /// The platform's number of the device at a place of the mesh.
    int device(int place) const {
        return devices.empty() ? 0 : devices[static_cast<std::size_t>(place)];
    }
    bool on_host() const { return platform->host_reaches_memory != 0; }

    std::vector<const weft_backend*> backends; // best first, as given to build_plan
    const weft_platform* platform = weft_cpu_platform();
    const weft_collectives* collectives = nullptr; // of a platform with several devices
    std::vector<int> devices; // by place on the mesh; of a process with one of them that at each
};

} // namespace weft::exec
