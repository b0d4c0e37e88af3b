// SPDX-License-Identifier: Apache-2.0
// How the GPUs of a run are while it trains.
#pragma once

#include "kernels/weft_health.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::train {

struct GpuState {
    std::size_t place = 0; // among the devices of the run
    int number = 0;        // of the platform
    weft_device_health health{};
};

/// Looks once a second, on a thread of its own: a look takes milliseconds that no step shall wait.
class HealthWatch {
public:
    /// Looks at once, and again while it lives. `table` outlives it.
    HealthWatch(const weft_health& table, std::vector<int> devices);
    HealthWatch(const HealthWatch&) = delete;
    HealthWatch& operator=(const HealthWatch&) = delete;

    /// As of the last look, without those that could not be looked at.
    std::vector<GpuState> last() const;

private:
    void look();

    const weft_health& table_;
    const std::vector<int> devices_; // by place
    mutable std::mutex mutex_;
    std::condition_variable_any waiting_;
    std::vector<GpuState> last_;
    std::jthread thread_; // last: it ends before the rest goes
};

} // namespace weft::train
