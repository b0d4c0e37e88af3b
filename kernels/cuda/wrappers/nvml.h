// SPDX-License-Identifier: Apache-2.0
// The few calls of NVML, the driver's library for the state of GPUs. It is loaded when it is first
// asked, and its header is no part of every toolkit: types and numbers are those of the "NVML API
// Reference Guide", which the library keeps for good.
#pragma once

#include <cstdint>
#include <string>

namespace weft::kernels::cuda {

using NvmlDevice = void*;
enum : int {
    kNvmlSuccess = 0,
    kNvmlTemperatureOfDie = 0,
    kNvmlPeerIsGpu = 0,
    kNvmlPeerIsSwitch = 2,
    kNvmlMostLinks = 36,
};
/// nvmlGpuTopologyLevel_t
enum : int {
    kNvmlOneBoard = 0,
    kNvmlOneSwitch = 10,
    kNvmlSwitches = 20,
    kNvmlHostBridge = 30,
    kNvmlNode = 40,
    kNvmlSystem = 50,
};
/// nvmlMemory_t
struct NvmlMemory {
    unsigned long long total, free, used;
};
/// nvmlUtilization_t, in percent
struct NvmlUtilization {
    unsigned gpu, memory;
};
/// nvmlPciInfo_t
struct NvmlPci {
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
};

struct Nvml {
    int (*init)();
    const char* (*error_text)(int result);
    int (*driver_version)(char* text, unsigned room);
    int (*device_at)(const char* bus_id, NvmlDevice* device);
    int (*memory)(NvmlDevice device, NvmlMemory* memory);
    int (*utilization)(NvmlDevice device, NvmlUtilization* utilization);
    int (*power)(NvmlDevice device, unsigned* milliwatts);
    int (*power_limit)(NvmlDevice device, unsigned* milliwatts);
    int (*temperature)(NvmlDevice device, int sensor, unsigned* celsius);
    int (*common_ancestor)(NvmlDevice one, NvmlDevice other, int* level);
    int (*link_state)(NvmlDevice device, unsigned link, int* active);
    int (*link_peer)(NvmlDevice device, unsigned link, NvmlPci* peer);
    int (*link_peer_kind)(NvmlDevice device, unsigned link, int* kind);
};

/// Null with `why` set where it cannot be had; looked for again by the next who asks.
const Nvml* nvml(std::string& why);

} // namespace weft::kernels::cuda
