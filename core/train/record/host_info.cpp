// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/host_info.h"

#include "core/base/machine.h"
#include "kernels/weft_kernels.h"

namespace weft::train {

using config::Json;

Json environment_json(const std::string& version, int threads) {
    return Json{{"version", version},
                {"threads", threads},
                {"kernel_library", weft_cpu_library_version()},
                {"instruction_set", weft_cpu_instruction_set()},
                {"host", read_machine().hostname}};
}

std::vector<std::string> environment_differences(const Json& before, const Json& now) {
    std::vector<std::string> out;
    for (const auto& [key, value] : now.items()) {
        if (key != "host" && before.is_object() && before.contains(key) && before[key] != value) {
            out.push_back(key + " was " + before[key].dump() + " and is " + value.dump());
        }
    }
    return out;
}

Json devices_json(int threads) {
    const Machine machine = read_machine();
    return Json::array({Json{{"id", 0},
                             {"kind", "cpu"},
                             {"name", machine.cpu_name},
                             {"threads", threads},
                             {"instruction_set", weft_cpu_instruction_set()},
                             {"memory_bytes", machine.memory_bytes}}});
}

Json devices_json(const HealthWatch& gpus) {
    Json out = Json::array();
    for (const GpuState& gpu : gpus.last()) {
        out.push_back({{"id", gpu.place},
                       {"kind", "cuda"},
                       {"name", gpu.health.name},
                       {"number", gpu.number},
                       {"gpu", gpu.health.id},
                       {"capability", gpu.health.capability},
                       {"memory_bytes", gpu.health.memory_bytes}});
    }
    return out;
}

Json host_json() {
    const Machine machine = read_machine();
    return Json{{"name", machine.hostname},
                {"system", machine.system},
                {"logical_cores", machine.logical_cores},
                {"usable_cores", machine.usable_cores},
                {"instruction_sets", machine.sets.names()},
                {"memory_bytes", machine.memory_bytes},
                {"memory_free_bytes", machine.memory_free_bytes},
                {"kernel_library", weft_cpu_library_version()}};
}

} // namespace weft::train
