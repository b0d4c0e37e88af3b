// SPDX-License-Identifier: Apache-2.0
#include "kernels/weft_module.h"

#include "kernels/cuda/module.h"

extern "C" const weft_module* weft_cuda_module(void) {
    static const weft_module module = {WEFT_EDGE,
                                       weft_cuda_backend(),
                                       weft_cuda_platform(),
                                       weft_cuda_collectives(),
                                       weft_cuda_health(),
                                       weft_cuda_set_cache_folder};
    return &module;
}
