// SPDX-License-Identifier: Apache-2.0
#include "core/train/memory_meter.h"

#include "core/base/machine.h"

#include <algorithm>

namespace weft::train {

using config::Json;

MemoryMeter::MemoryMeter() : start_bytes_(read_process_memory().resident_bytes) {}

std::int64_t MemoryMeter::growth_bytes() const {
    return read_process_memory().resident_bytes - start_bytes_;
}

void MemoryMeter::book(const std::function<void()>& work,
                       const std::function<std::int64_t()>& own) {
    const std::int64_t before = growth_bytes() - own();
    work();
    library_bytes_ += std::max<std::int64_t>(0, growth_bytes() - own() - before);
}

Json MemoryMeter::to_json(const plan::ExecutionPlan& plan) const {
    const ProcessMemory now = read_process_memory();
    Json categories = Json::object();
    const auto bytes = plan::bytes_by_category(plan);
    for (int i = 0; i < plan::kCategories; ++i) {
        categories[std::string(plan::category_name(static_cast<plan::Category>(i)))] =
            bytes[static_cast<std::size_t>(i)];
    }
    return Json{{"planned_bytes", plan.device_bytes()},
                {"planned_by_category", std::move(categories)},
                {"limit_bytes", plan.limit_bytes ? Json(*plan.limit_bytes) : Json(nullptr)},
                {"startup_bytes", start_bytes_},
                {"resident_bytes", now.resident_bytes - start_bytes_},
                {"peak_bytes", now.peak_bytes - start_bytes_},
                {"library_bytes", library_bytes_}};
}

} // namespace weft::train
