// SPDX-License-Identifier: Apache-2.0
// Bad data that only a running kernel sees: an id outside a table, a label that is no class. The
// kernel leaves a number in a word that the host reads and goes on without touching memory that is
// not its own. The next run of any kernel, or whoever waits for a stream, gets WEFT_BAD_ARGUMENT
// and the text.
#pragma once

#include "kernels/cuda/dialect.h"
#include "kernels/weft_kernels.h"

namespace weft::kernels::cuda {

enum Fault : int {
    kNoFault = 0,
    kIdOutsideTable,
    kIdOutsideGradient,
    kWrittenOutsideTable,
    kLabelTooLarge,
    kLabelOfGradientTooLarge,
    kCtcLabelTooLarge,
    kCtcLabelOfGradientTooLarge,
    kIndexOfTopK,
    kNoSuchExpert,
    kRowOutsideExperts,
    kPickOutside,
    kCachedPosition,
    kWrittenPosition,
    kFaults
};

/// The word of this process; a kernel gets its address.
volatile int* fault_word();

/// WEFT_OK, or the fault that a kernel has reported since the last call.
weft_status reported_fault();

WEFT_DEVICE void report_fault(volatile int* word, int fault) {
    store_for_host(word, fault);
}

} // namespace weft::kernels::cuda
