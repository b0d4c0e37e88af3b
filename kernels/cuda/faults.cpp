// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/faults.h"

#include "kernels/cuda/wrappers/runtime.h"
#include "kernels/op.h"

namespace weft::kernels::cuda {
namespace {

constexpr const char* kTexts[] = {
    "",
    "embedding: an id is outside the table",
    "embedding_grad: an id is outside the table",
    "write_rows: an id is outside the table",
    "cross_entropy: a label is not below the classes",
    "cross_entropy_grad: a label is not below the classes",
    "ctc: a label is not below the classes",
    "ctc_grad: a label is not below the classes",
    "top_k_grad: an index is out of range",
    "expert_rows: there is no such expert",
    "expert routing: a row is outside the experts",
    "pick: the index is outside the dimension",
    "attention_cached: the position leaves the cache",
    "cache_write: the position leaves the cache",
};
static_assert(sizeof kTexts / sizeof kTexts[0] == kFaults);

} // namespace

volatile int* fault_word() {
    static volatile int* const word =
        static_cast<volatile int*>(memory_of_host_and_device(sizeof(int)));
    return word;
}

weft_status reported_fault() {
    volatile int* word = fault_word();
    const int fault = *word;
    if (fault == kNoFault) {
        return WEFT_OK;
    }
    *word = kNoFault;
    return fail(WEFT_BAD_ARGUMENT, kTexts[fault]);
}

} // namespace weft::kernels::cuda
