/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the module weft-backend-cuda, as its table names them (weft_module.h). */
#ifndef WEFT_CUDA_MODULE_H
#define WEFT_CUDA_MODULE_H

#include "kernels/weft_collectives.h"
#include "kernels/weft_health.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels that are queued on the stream of their run. Bad data that a kernel meets is told by a
 * later run, or when a stream is finished. */
const weft_backend* weft_cuda_backend(void);
const weft_platform* weft_cuda_platform(void);
const weft_collectives* weft_cuda_collectives(void);
const weft_health* weft_cuda_health(void);
/* As in weft_module. */
weft_status weft_cuda_set_cache_folder(const char* folder);

#ifdef __cplusplus
}
#endif

#endif
