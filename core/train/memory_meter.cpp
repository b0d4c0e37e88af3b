// SPDX-License-Identifier: Apache-2.0
#include "core/train/memory_meter.h"

#include "core/base/machine.h"

#include <algorithm>

namespace weft::train {

using config::Json;

std::int64_t library_estimate(int threads) {
    constexpr std::int64_t kMiB = 1 << 20;
    return 20 * kMiB + 8 * kMiB * threads;
}

MemoryMeter::MemoryMeter() {
    const ProcessMemory now = read_process_memory();
    start_bytes_ = now.resident_bytes;
    start_file_bytes_ = now.file_bytes;
}

std::int64_t MemoryMeter::growth_bytes(const exec::Executor& executor) const {
    return read_resident_bytes() - start_bytes_ + executor.elsewhere_bytes();
}

std::int64_t MemoryMeter::library_bytes(const exec::Executor& executor) const {
    const std::int64_t files = read_process_memory().file_bytes - start_file_bytes_;
    return executor.library_bytes() + std::max<std::int64_t>(0, files);
}

Json MemoryMeter::to_json(const exec::Executor& executor) const {
    const plan::ExecutionPlan& plan = executor.plan();
    const ProcessMemory now = read_process_memory();
    Json categories = Json::object();
    const auto bytes = plan::memory_by_category(plan);
    for (int i = 0; i < plan::kCategories; ++i) {
        categories[std::string(plan::category_name(static_cast<plan::Category>(i)))] =
            bytes[static_cast<std::size_t>(i)];
    }
    return Json{{"planned_bytes", plan.memory_bytes()},
                {"planned_by_category", std::move(categories)},
                {"limit_bytes", plan.limit_bytes ? Json(*plan.limit_bytes) : Json(nullptr)},
                {"startup_bytes", start_bytes_},
                {"resident_bytes", growth_bytes(executor)},
                {"peak_bytes", now.peak_bytes - start_bytes_},
                {"library_bytes", library_bytes(executor)}};
}

} // namespace weft::train
