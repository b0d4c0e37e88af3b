// SPDX-License-Identifier: Apache-2.0
// Health of GPUs that are none: memory as it is taken, the rest from what the machine has done.
#include "kernels/op.h"
#include "tests/kernels/emulation/machine.h"

#include <cstdio>

namespace {

using weft::kernels::fail;
using weft::test::machine_load;
using weft::test::MachineLoad;

bool is_there(std::int32_t index) {
    return index >= 0 && index < machine_load(index).devices;
}

weft_status look(std::int32_t index, weft_device_health* health) {
    if (!is_there(index)) {
        return fail(WEFT_BAD_ARGUMENT, "the emulated machine has no such device");
    }
    constexpr std::int64_t kPeriod = 97;
    const MachineLoad load = machine_load(index);
    *health = {};
    std::snprintf(health->name, sizeof health->name, "emulated GPU");
    std::snprintf(health->id, sizeof health->id, "emulated-%d", index);
    health->capability = 90;
    health->processors = 1;
    health->memory_bytes = load.memory_bytes;
    health->memory_used_bytes = load.reserved_bytes;
    health->utilisation = static_cast<double>((load.works + index) % kPeriod) / kPeriod;
    health->power_limit_w = 700;
    health->power_w = 70 + 600 * health->utilisation;
    health->temperature_c = 30 + 40 * health->utilisation;
    return WEFT_OK;
}

/// In pairs, as on a board with two of them.
weft_status link(std::int32_t one, std::int32_t other, weft_device_link* link) {
    if (!is_there(one) || !is_there(other)) {
        return fail(WEFT_BAD_ARGUMENT, "the emulated machine has no such device");
    }
    const bool pair = one / 2 == other / 2;
    *link = {};
    link->nvlinks = pair ? 4 : 0;
    std::snprintf(link->path, sizeof link->path, "%s",
                  pair ? "one PCIe switch" : "one PCIe host bridge");
    return WEFT_OK;
}

weft_status libraries(weft_library* list, std::int32_t* count) {
    list[0] = {"driver", "none, emulated", ""};
    list[1] = {"NCCL", "", "emulated GPUs exchange without it"};
    *count = 2;
    return WEFT_OK;
}

constexpr weft_health kEmulatedHealth = {look, link, libraries, weft_last_error};

} // namespace

const weft_health* weft_emulated_health() {
    return &kEmulatedHealth;
}
