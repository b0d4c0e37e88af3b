// SPDX-License-Identifier: Apache-2.0
// An NVML of three GPUs. The first two have two NVLinks to each other and four to a switch, the
// third has three to the switch, of which one is down, and does not tell its temperature.
#include "kernels/cuda/wrappers/nvml.h"

#include <cstdio>
#include <cstring>

using namespace weft::kernels::cuda;

namespace {

constexpr int kNotFound = 6;
constexpr int kNotSupported = 3;
constexpr const char* kBuses[] = {"0000:18:00.0", "0000:3B:00.0", "0000:86:00.0"};

NvmlDevice device(int number) {
    return const_cast<char*>(kBuses[number]);
}
int number_of(NvmlDevice one) {
    for (int i = 0; i < 3; ++i) {
        if (one == device(i)) {
            return i;
        }
    }
    return -1;
}
int links_to_switch(int number) {
    return number == 2 ? 3 : 4;
}
int links_to_peer(int number) {
    return number == 2 ? 0 : 2;
}

} // namespace

extern "C" {

int nvmlInit_v2() {
    return kNvmlSuccess;
}
const char* nvmlErrorString(int result) {
    return result == kNotSupported ? "Not Supported" : "Not Found";
}
int nvmlSystemGetDriverVersion(char* text, unsigned room) {
    std::snprintf(text, room, "580.65.06");
    return kNvmlSuccess;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, NvmlDevice* found) {
    for (int i = 0; i < 3; ++i) {
        if (std::strcmp(bus, kBuses[i]) == 0) {
            *found = device(i);
            return kNvmlSuccess;
        }
    }
    return kNotFound;
}
int nvmlDeviceGetMemoryInfo(NvmlDevice, NvmlMemory* memory) {
    *memory = {80000, 30000, 50000};
    return kNvmlSuccess;
}
int nvmlDeviceGetUtilizationRates(NvmlDevice, NvmlUtilization* utilization) {
    *utilization = {35, 12};
    return kNvmlSuccess;
}
int nvmlDeviceGetPowerUsage(NvmlDevice, unsigned* milliwatts) {
    *milliwatts = 310500;
    return kNvmlSuccess;
}
int nvmlDeviceGetEnforcedPowerLimit(NvmlDevice, unsigned* milliwatts) {
    *milliwatts = 700000;
    return kNvmlSuccess;
}
int nvmlDeviceGetTemperature(NvmlDevice one, int sensor, unsigned* celsius) {
    *celsius = 54;
    return sensor == kNvmlTemperatureOfDie && number_of(one) != 2 ? kNvmlSuccess : kNotSupported;
}
int nvmlDeviceGetTopologyCommonAncestor(NvmlDevice one, NvmlDevice other, int* level) {
    *level = number_of(one) == 2 || number_of(other) == 2 ? kNvmlSystem : kNvmlOneSwitch;
    return kNvmlSuccess;
}
int nvmlDeviceGetNvLinkState(NvmlDevice one, unsigned link, int* active) {
    const int number = number_of(one);
    const auto all = static_cast<unsigned>(links_to_switch(number) + links_to_peer(number));
    *active = link < all && !(number == 2 && link == 0) ? 1 : 0;
    return link < all ? kNvmlSuccess : kNotSupported;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(NvmlDevice one, unsigned link, int* kind) {
    *kind = static_cast<int>(link) < links_to_switch(number_of(one)) ? kNvmlPeerIsSwitch
                                                                     : kNvmlPeerIsGpu;
    return kNvmlSuccess;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(NvmlDevice one, unsigned, NvmlPci* peer) {
    std::snprintf(peer->id, sizeof peer->id, "%s", kBuses[1 - number_of(one)]);
    return kNvmlSuccess;
}
}
