// SPDX-License-Identifier: Apache-2.0
// Who a process of a run is.
#pragma once

#include "core/config/json.h"

#include <cstdint>
#include <string>

namespace weft::exec {

struct RankIdentity {
    std::string version;      // of the program
    std::string instructions; // that kernels use: results of others differ in the last bits
    std::string host;
    std::int64_t process = 0;
    int threads = 1;                    // for its kernels
    std::int64_t memory_free_bytes = 0; // of its host
};

} // namespace weft::exec
