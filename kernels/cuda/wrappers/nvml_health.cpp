// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/wrappers/nvml_health.h"

#include "kernels/cuda/wrappers/nvml.h"
#include "kernels/op.h"

#include <algorithm>
#include <cstdio>

namespace weft::kernels::cuda {
namespace {

constexpr double kPercent = 100;
constexpr double kMilli = 1000;

template <std::size_t N>
void put_text(char (&to)[N], const std::string& text) {
    std::snprintf(to, N, "%s", text.c_str());
}

NvmlDevice device_at(const Nvml& library, const std::string& bus) {
    NvmlDevice device = nullptr;
    const int result = library.device_at(bus.c_str(), &device);
    if (result != kNvmlSuccess) {
        throw Failure{WEFT_LIBRARY_ERROR,
                      "NVML does not know the GPU at " + bus + ": " + library.error_text(result)};
    }
    return device;
}

const Nvml& nvml_or_failure() {
    std::string why;
    const Nvml* const library = nvml(why);
    if (library == nullptr) {
        throw Failure{WEFT_LIBRARY_ERROR, why};
    }
    return *library;
}

/// What one does not know another may.
void ask_each(const Nvml& library, NvmlDevice device, weft_device_health& health) {
    int problem = kNvmlSuccess;
    const auto known = [&](int result) {
        problem = result == kNvmlSuccess ? problem : result;
        return result == kNvmlSuccess;
    };
    NvmlMemory memory{};
    if (known(library.memory(device, &memory))) {
        health.memory_used_bytes = static_cast<std::int64_t>(memory.used);
    }
    NvmlUtilization utilization{};
    if (known(library.utilization(device, &utilization))) {
        health.utilisation = utilization.gpu / kPercent;
    }
    unsigned number = 0;
    if (known(library.power(device, &number))) {
        health.power_w = number / kMilli;
    }
    if (known(library.power_limit(device, &number))) {
        health.power_limit_w = number / kMilli;
    }
    if (known(library.temperature(device, kNvmlTemperatureOfDie, &number))) {
        health.temperature_c = number;
    }
    if (problem != kNvmlSuccess) {
        put_text(health.unknown, std::string("NVML says: ") + library.error_text(problem));
    }
}

/// NVLinks of a GPU to another, and to switches, which join all that have links to them.
struct Links {
    int direct = 0;
    int to_switch = 0;
};

Links links_between(const Nvml& library, NvmlDevice device, NvmlDevice other) {
    Links out;
    for (unsigned link = 0; link < kNvmlMostLinks; ++link) {
        int active = 0;
        int kind = -1;
        if (library.link_state(device, link, &active) != kNvmlSuccess || active == 0 ||
            library.link_peer_kind(device, link, &kind) != kNvmlSuccess) {
            continue;
        }
        NvmlPci peer{};
        NvmlDevice found = nullptr;
        if (kind == kNvmlPeerIsSwitch) {
            ++out.to_switch;
        } else if (kind == kNvmlPeerIsGpu &&
                   library.link_peer(device, link, &peer) == kNvmlSuccess &&
                   library.device_at(peer.id, &found) == kNvmlSuccess && found == other) {
            ++out.direct;
        }
    }
    return out;
}

const char* path_text(int level) {
    switch (level) {
    case kNvmlOneBoard: return "one board";
    case kNvmlOneSwitch: return "one PCIe switch";
    case kNvmlSwitches: return "several PCIe switches";
    case kNvmlHostBridge: return "one PCIe host bridge";
    case kNvmlNode: return "several host bridges of one processor";
    case kNvmlSystem: return "several processors";
    default: return "";
    }
}

} // namespace

void add_nvml_facts(const std::string& bus, weft_device_health& health) {
    health.memory_used_bytes = -1;
    health.utilisation = health.power_w = health.power_limit_w = health.temperature_c = -1;
    try {
        const Nvml& library = nvml_or_failure();
        ask_each(library, device_at(library, bus), health);
    } catch (const Failure& failure) {
        put_text(health.unknown, failure.text);
    }
}

weft_device_link nvml_link(const std::string& one_bus, const std::string& other_bus) {
    const Nvml& library = nvml_or_failure();
    const NvmlDevice one = device_at(library, one_bus);
    const NvmlDevice other = device_at(library, other_bus);
    weft_device_link out{};
    int level = -1;
    library.common_ancestor(one, other, &level);
    put_text(out.path, path_text(level));
    const Links there = links_between(library, one, other);
    const Links back = links_between(library, other, one);
    out.nvlinks = there.direct + std::min(there.to_switch, back.to_switch);
    return out;
}

} // namespace weft::kernels::cuda
