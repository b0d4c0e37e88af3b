// SPDX-License-Identifier: Apache-2.0
// Why a run is slow: what a recording shows to cost time, the largest first, each in one sentence
// and with what to do about it. Values only: any thread.
#pragma once

#include "core/profile/recording.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::profile {

enum class CauseKind : std::uint8_t {
    data_starvation,  // the step waits for batches
    imbalance,        // some devices compute longer than others, which wait
    waiting,          // at exchanges, for other reasons
    exchange,         // data on its way between devices
    small_products,   // products so small that calling them counts
    unfused_chain,    // elementwise ops one after the other, each through memory
    memory_bandwidth, // calls that move bytes about as fast as memory can
    slow_kernel,      // one kind of call far from its best time
    host,             // between calls and after them
};
std::string_view cause_name(CauseKind kind);

struct Cause {
    CauseKind kind = CauseKind::host;
    double share = 0;     // of the step: lost; of memory_bandwidth: spent
    std::string sentence; // "Data starvation: 32 % of a step waits for batches."
    std::string fix;      // what to do; empty: nothing is known
    std::string setting;  // the configuration's field that the fix is about; empty: none
    std::string subject{}; // of slow_kernel: the op, "matmul backward"
};

/// Causes of less than kWorthNaming of a step are left out; empty where nothing stands out.
std::vector<Cause> causes_of(const Recording& recording);
constexpr double kWorthNaming = 0.05;

/// One sentence: the first cause's, or that nothing stands out.
std::string verdict_of(const std::vector<Cause>& causes);

} // namespace weft::profile
