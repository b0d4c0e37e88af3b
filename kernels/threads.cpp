// SPDX-License-Identifier: Apache-2.0
#include "kernels/weft_kernels.h"

#include <algorithm>

#include <omp.h>

// OpenMP keeps the team size per calling thread, which is just what the edge promises; oneDNN asks
// OpenMP for it.
extern "C" void weft_set_threads(int32_t threads) {
    // oneDNN computes wrong numbers where a team is smaller than it was told.
    omp_set_dynamic(0);
    omp_set_num_threads(std::min(threads > 0 ? threads : omp_get_num_procs(), weft_thread_limit()));
}

extern "C" int32_t weft_thread_limit(void) {
    return omp_get_thread_limit();
}

extern "C" int32_t weft_threads(void) {
    return omp_get_max_threads();
}
