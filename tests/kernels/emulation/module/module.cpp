// SPDX-License-Identifier: Apache-2.0
// The emulated GPUs as a module, for programs that load one: $WEFT_MODULES names its folder. What
// they are, and what happens to them, is said by variables, which default to MachineOptions.
#include "kernels/cuda/module.h"
#include "kernels/weft_module.h"
#include "tests/kernels/emulation/collectives.h"
#include "tests/kernels/emulation/machine.h"

#include <cstdlib>
#include <sstream>
#include <utility>

namespace {

std::int64_t number_of(const char* variable, std::int64_t otherwise) {
    const char* text = std::getenv(variable);
    return text != nullptr ? std::atoll(text) : otherwise;
}

std::string text_of(const char* variable) {
    const char* text = std::getenv(variable);
    return text != nullptr ? text : "";
}

/// "512,8192": by device.
std::vector<std::int64_t> mebibytes_of(const char* variable, std::vector<std::int64_t> otherwise) {
    std::istringstream list(text_of(variable));
    std::vector<std::int64_t> out;
    for (std::string one; std::getline(list, one, ',');) {
        out.push_back(std::stoll(one) << 20);
    }
    return out.empty() ? std::move(otherwise) : out;
}

} // namespace

extern "C" const weft_module* weft_cuda_module(void) {
    const weft::test::MachineOptions sound;
    const auto own = [](const char* variable, std::int64_t otherwise) {
        return static_cast<int>(number_of(variable, otherwise));
    };
    weft::test::set_machine(
        {.devices = own("WEFT_EMULATED_GPUS", 2),
         .memory_bytes = mebibytes_of("WEFT_EMULATED_MEMORY", sound.memory_bytes),
         .works_before_fault = number_of("WEFT_EMULATED_FAULT", sound.works_before_fault),
         .works_before_hang = number_of("WEFT_EMULATED_HANG", sound.works_before_hang),
         .troubled = own("WEFT_EMULATED_TROUBLED", sound.troubled),
         .meetings_before_hang = number_of("WEFT_EMULATED_STALL", sound.meetings_before_hang),
         .mismatched_call = number_of("WEFT_EMULATED_MISMATCH", sound.mismatched_call),
         .wrong_op = text_of("WEFT_EMULATED_WRONG"),
         .ranks_apart = own("WEFT_EMULATED_APART", 0) != 0});
    static const weft_module module = {WEFT_EDGE,
                                       weft_emulated_backend(),
                                       weft_emulated_platform(),
                                       weft_emulated_collectives(),
                                       weft_emulated_health(),
                                       weft_cuda_set_cache_folder};
    return &module;
}
