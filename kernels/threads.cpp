// SPDX-License-Identifier: Apache-2.0
#include "kernels/weft_kernels.h"

#include <omp.h>

// OpenMP keeps the team size per calling thread, which is just what the edge promises; oneDNN asks
// OpenMP for it.
extern "C" void weft_set_threads(int32_t threads) {
    omp_set_num_threads(threads > 0 ? threads : omp_get_num_procs());
}

extern "C" int32_t weft_threads(void) {
    return omp_get_max_threads();
}
