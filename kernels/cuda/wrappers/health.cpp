// SPDX-License-Identifier: Apache-2.0
// How NVIDIA GPUs are, by NVML, and the versions of what the back end stands on. Of the runtime
// only such calls as give no GPU a context. tests/kernels/emulation has the same table without a
// GPU.
#include "kernels/cuda/module.h"
#include "kernels/cuda/wrappers/gpu_id.h"
#include "kernels/cuda/wrappers/nvml.h"
#include "kernels/cuda/wrappers/nvml_health.h"
#include "kernels/cuda/wrappers/stream.h"

#include <cublasLt.h>
#include <cudnn.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>

namespace weft::kernels::cuda {
namespace {

template <class Body>
weft_status at_health(Body body) noexcept {
    return as_status("out of memory in a look at a GPU", body);
}

template <std::size_t N>
void put(char (&to)[N], const std::string& text) {
    std::snprintf(to, N, "%s", text.c_str());
}

/// Where it sits, by which NVML knows it whatever CUDA_VISIBLE_DEVICES leaves out.
std::string bus_of(std::int32_t index) {
    char bus[32] = "";
    check(cudaDeviceGetPCIBusId(bus, sizeof bus, index), "asking where a GPU is");
    return bus;
}

/// What of a GPU stays as it is.
struct KnownGpu {
    weft_device_health health{};
    std::string bus;
};

KnownGpu known_gpu(std::int32_t index) {
    KnownGpu out;
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, index), "asking a GPU what it is");
    put(out.health.name, properties.name);
    write_id(properties.uuid, out.health.id);
    out.health.capability = properties.major * 10 + properties.minor;
    out.health.processors = properties.multiProcessorCount;
    out.health.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    out.bus = bus_of(index);
    return out;
}

/// Asks the runtime once: who looks each second leaves it to those who train.
weft_status look_at_gpu(std::int32_t index, weft_device_health* health) {
    return at_health([&] {
        static std::mutex mutex;
        static std::map<std::int32_t, KnownGpu> known;
        const std::lock_guard lock(mutex);
        auto found = known.find(index);
        if (found == known.end()) {
            found = known.emplace(index, known_gpu(index)).first;
        }
        *health = found->second.health;
        add_nvml_facts(found->second.bus, *health);
    });
}

weft_status link_gpus(std::int32_t one, std::int32_t other, weft_device_link* link) {
    return at_health([&] { *link = nvml_link(bus_of(one), bus_of(other)); });
}

std::string dotted(std::size_t major, std::size_t minor, std::size_t patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}
/// As cuBLAS, cuDNN 9 and NCCL number themselves.
std::string dotted(std::size_t number) {
    return dotted(number / 10000, number / 100 % 100, number % 100);
}
/// As CUDA numbers itself.
std::string cuda_text(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

weft_library driver() {
    weft_library out{"driver", "", ""};
    std::string why;
    const Nvml* const library = nvml(why);
    char text[80] = "";
    int number = 0;
    cudaDriverGetVersion(&number);
    if (library != nullptr && library->driver_version(text, sizeof text) != kNvmlSuccess) {
        why = "NVML does not tell the version of the driver";
    }
    if (*text != '\0') {
        put(out.version, std::string(text) + ", for CUDA " + cuda_text(number));
    } else if (number > 0) {
        put(out.version, "for CUDA " + cuda_text(number));
    } else {
        put(out.missing, why);
    }
    return out;
}

/// NCCL is loaded on demand (collectives.cpp).
weft_library nccl_library() {
    weft_library out{"NCCL", "", ""};
    void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    const auto version = library != nullptr
                             ? reinterpret_cast<int (*)(int*)>(dlsym(library, "ncclGetVersion"))
                             : nullptr;
    int number = 0;
    if (version != nullptr && version(&number) == 0) {
        put(out.version, dotted(static_cast<std::size_t>(number)));
    } else {
        put(out.missing, "libnccl.so.2 is missing: install NCCL 2 (NVIDIA's package libnccl2) to "
                         "train on several GPUs");
    }
    return out;
}

weft_library present(const char* name, const std::string& version) {
    weft_library out{};
    put(out.name, name);
    put(out.version, version);
    return out;
}

weft_status list_libraries(weft_library* list, std::int32_t* count) {
    return at_health([&] {
        int runtime = 0;
        check(cudaRuntimeGetVersion(&runtime), "the version of the CUDA runtime");
        int major = 0;
        int minor = 0;
        nvrtcVersion(&major, &minor);
        const weft_library all[] = {
            driver(),
            present("CUDA", cuda_text(runtime)),
            present("NVRTC", std::to_string(major) + "." + std::to_string(minor)),
            present("cuBLASLt", dotted(cublasLtGetVersion())),
            present("cuDNN", dotted(cudnnGetVersion())),
            nccl_library(),
        };
        static_assert(std::size(all) <= WEFT_MOST_LIBRARIES);
        std::copy(std::begin(all), std::end(all), list);
        *count = static_cast<std::int32_t>(std::size(all));
    });
}

constexpr weft_health kHealth = {look_at_gpu, link_gpus, list_libraries, weft_last_error};

} // namespace
} // namespace weft::kernels::cuda

extern "C" const weft_health* weft_cuda_health(void) {
    return &weft::kernels::cuda::kHealth;
}
