// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>

namespace weft::kernels::cuda {

/// As people and nvidia-smi write it: "GPU-01234567-89ab-...".
inline void write_id(const cudaUUID_t& uuid, char (&id)[64]) {
    int at = std::snprintf(id, sizeof id, "GPU-");
    for (int i = 0; i < 16; ++i) {
        const bool parted = i == 4 || i == 6 || i == 8 || i == 10;
        at += std::snprintf(id + at, sizeof id - static_cast<std::size_t>(at),
                            parted ? "-%02x" : "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    }
}

} // namespace weft::kernels::cuda
