// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/wrappers/nvml.h"

#include <dlfcn.h>

#include <mutex>

namespace weft::kernels::cuda {
namespace {

template <class Function>
bool find_in(void* library, const char* name, Function& function, std::string& why) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) {
        why = std::string("libnvidia-ml.so.1 lacks ") + name + ": install a newer NVIDIA driver";
    }
    return function != nullptr;
}

bool find_all(void* library, Nvml& all, std::string& why) {
    return find_in(library, "nvmlInit_v2", all.init, why) &&
           find_in(library, "nvmlErrorString", all.error_text, why) &&
           find_in(library, "nvmlSystemGetDriverVersion", all.driver_version, why) &&
           find_in(library, "nvmlDeviceGetHandleByPciBusId_v2", all.device_at, why) &&
           find_in(library, "nvmlDeviceGetMemoryInfo", all.memory, why) &&
           find_in(library, "nvmlDeviceGetUtilizationRates", all.utilization, why) &&
           find_in(library, "nvmlDeviceGetPowerUsage", all.power, why) &&
           find_in(library, "nvmlDeviceGetEnforcedPowerLimit", all.power_limit, why) &&
           find_in(library, "nvmlDeviceGetTemperature", all.temperature, why) &&
           find_in(library, "nvmlDeviceGetTopologyCommonAncestor", all.common_ancestor, why) &&
           find_in(library, "nvmlDeviceGetNvLinkState", all.link_state, why) &&
           find_in(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2", all.link_peer, why) &&
           find_in(library, "nvmlDeviceGetNvLinkRemoteDeviceType", all.link_peer_kind, why);
}

} // namespace

const Nvml* nvml(std::string& why) {
    static std::mutex mutex;
    static Nvml found{};
    static bool ready = false;
    const std::lock_guard lock(mutex);
    if (ready) {
        return &found;
    }
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        why = "NVML (libnvidia-ml.so.1) is missing: install the NVIDIA driver's package for it, "
              "libnvidia-ml1 on Debian";
        return nullptr;
    }
    if (!find_all(library, found, why)) {
        dlclose(library);
        return nullptr;
    }
    const int result = found.init();
    if (result != kNvmlSuccess) {
        why = std::string("NVML does not start: ") + found.error_text(result);
        dlclose(library);
        return nullptr;
    }
    ready = true;
    return &found;
}

} // namespace weft::kernels::cuda
