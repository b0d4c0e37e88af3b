// SPDX-License-Identifier: Apache-2.0
#include "core/train/measure/device_meter.h"

#include <algorithm>
#include <utility>

namespace weft::train {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
// A process that has a context and nothing else shows 400 to 520 MiB in nvidia-smi, A100 to H100.
constexpr std::int64_t kContextBytes = 512 * kMiB;
// Code of the kernels that are used, and handles: libraries load them lazily since CUDA 12.2 (CUDA
// programming guide, "Lazy Loading"). A round figure.
constexpr std::int64_t kLibraryBytes = 256 * kMiB;
// At most 32 channels with a buffer of NCCL_BUFFSIZE, 4 MiB, each (NCCL user guide, "Environment
// Variables").
constexpr std::int64_t kGroupBytes = 128 * kMiB;

/// Below 0: not known.
std::int64_t used_bytes(int device) {
    weft_device_health health{};
    const weft_health* table = gpu_health();
    return table != nullptr && table->look(device, &health) == WEFT_OK ? health.memory_used_bytes
                                                                       : -1;
}

} // namespace

plan::DeviceMemory device_estimate(int groups) {
    return {kContextBytes, kLibraryBytes, groups * kGroupBytes};
}

DeviceMeter::DeviceMeter(std::vector<int> devices) : devices_(std::move(devices)) {
    for (const int device : devices_) {
        used_before_.push_back(used_bytes(device));
    }
}

plan::DeviceMemory DeviceMeter::measure(const exec::Executor& executor) const {
    plan::DeviceMemory out;
    bool context_known = true;
    for (std::size_t place = 0; place < devices_.size(); ++place) {
        const plan::DeviceMemory own = executor.beside(static_cast<int>(place));
        out.library_bytes = std::max(out.library_bytes, own.library_bytes);
        out.exchange_bytes = std::max(out.exchange_bytes, own.exchange_bytes);
        const std::int64_t used = used_bytes(devices_[place]);
        context_known = context_known && used >= 0 && used_before_[place] >= 0;
        out.context_bytes = std::max(
            out.context_bytes, used - used_before_[place] - own.library_bytes - own.exchange_bytes -
                                   executor.reserved_bytes(static_cast<int>(place)));
    }
    if (!context_known) {
        out.context_bytes = executor.plan().beside.context_bytes;
    }
    return out;
}

} // namespace weft::train
