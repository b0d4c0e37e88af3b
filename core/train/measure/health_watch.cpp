// SPDX-License-Identifier: Apache-2.0
#include "core/train/measure/health_watch.h"

#include <chrono>
#include <utility>

namespace weft::train {

HealthWatch::HealthWatch(const weft_health& table, std::vector<int> devices)
    : table_(table), devices_(std::move(devices)) {
    look();
    thread_ = std::jthread([this](const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (!waiting_.wait_for(lock, stop, std::chrono::seconds(1),
                                  [&] { return stop.stop_requested(); })) {
            lock.unlock();
            look();
            lock.lock();
        }
    });
}

void HealthWatch::look() {
    std::vector<GpuState> now;
    for (std::size_t place = 0; place < devices_.size(); ++place) {
        GpuState one{place, devices_[place]};
        if (table_.look(one.number, &one.health) == WEFT_OK) {
            now.push_back(one);
        }
    }
    const std::lock_guard lock(mutex_);
    last_ = std::move(now);
}

std::vector<GpuState> HealthWatch::last() const {
    const std::lock_guard lock(mutex_);
    return last_;
}

} // namespace weft::train
