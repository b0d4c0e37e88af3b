// SPDX-License-Identifier: Apache-2.0
// The emulated GPUs as a module, for programs that load one: $WEFT_MODULES names its folder,
// $WEFT_EMULATED_GPUS says how many there are (2), $WEFT_EMULATED_FAULT after how many pieces of
// work one of them fails (never), $WEFT_EMULATED_HANG after how many one never ends (never),
// $WEFT_EMULATED_TROUBLED which of them that is (whichever comes to it), $WEFT_EMULATED_WRONG which
// op's kernel is wrong (none).
#include "kernels/cuda/module.h"
#include "kernels/weft_module.h"
#include "tests/kernels/emulation/collectives.h"
#include "tests/kernels/emulation/machine.h"

#include <cstdlib>

namespace {

std::int64_t number_of(const char* variable, std::int64_t otherwise) {
    const char* text = std::getenv(variable);
    return text != nullptr ? std::atoll(text) : otherwise;
}

std::string text_of(const char* variable) {
    const char* text = std::getenv(variable);
    return text != nullptr ? text : "";
}

} // namespace

extern "C" const weft_module* weft_cuda_module(void) {
    weft::test::set_machine({.devices = static_cast<int>(number_of("WEFT_EMULATED_GPUS", 2)),
                             .works_before_fault = number_of("WEFT_EMULATED_FAULT", -1),
                             .works_before_hang = number_of("WEFT_EMULATED_HANG", -1),
                             .troubled = static_cast<int>(number_of("WEFT_EMULATED_TROUBLED", -1)),
                             .wrong_op = text_of("WEFT_EMULATED_WRONG")});
    static const weft_module module = {WEFT_EDGE,
                                       weft_emulated_backend(),
                                       weft_emulated_platform(),
                                       weft_emulated_collectives(),
                                       weft_emulated_health(),
                                       weft_cuda_set_cache_folder};
    return &module;
}
