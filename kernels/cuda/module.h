/* SPDX-License-Identifier: Apache-2.0 */
/* What the module weft-backend-cuda offers to whoever loads it. */
#ifndef WEFT_CUDA_MODULE_H
#define WEFT_CUDA_MODULE_H

#include "kernels/weft_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels that are queued on the stream of their run. Bad data that a kernel meets is told by a
 * later run, or by weft_cuda_fault. */
__attribute__((visibility("default"))) const weft_backend* weft_cuda_backend(void);

/* WEFT_OK, or WEFT_BAD_ARGUMENT with weft_cuda_last_error when a kernel has met bad data since the
 * last call. To be asked after waiting for a stream. */
__attribute__((visibility("default"))) weft_status weft_cuda_fault(void);

/* Where generated kernels are kept between processes, at most 64 MiB of them; null or "": nowhere,
 * as at the start. WEFT_LIBRARY_ERROR with weft_cuda_last_error where the folder cannot be written
 * to: the choice stays as it was. */
__attribute__((visibility("default"))) weft_status weft_cuda_set_cache_folder(const char* folder);

/* weft_last_error for what the module has said: it has a text of its own. */
__attribute__((visibility("default"))) const char* weft_cuda_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
