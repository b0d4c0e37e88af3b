/* SPDX-License-Identifier: Apache-2.0 */
/* Back ends in modules that are loaded at run time: a program needs none of their libraries to
 * start. */
#ifndef WEFT_MODULE_H
#define WEFT_MODULE_H

#include "kernels/weft_collectives.h"
#include "kernels/weft_health.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counts with every change of the headers of the edge that what was built before cannot follow. */
#define WEFT_EDGE 4

typedef struct weft_module {
    int32_t edge; /* WEFT_EDGE that it was built with */
    const weft_backend* backend;
    const weft_platform* platform;
    const weft_collectives* collectives;
    const weft_health* health;
    /* Where generated kernels are kept between processes, at most 64 MiB of them; null or "":
     * nowhere, as at the start. WEFT_LIBRARY_ERROR with the back end's last_error where the folder
     * cannot be written to: the choice stays as it was. */
    weft_status (*set_cache_folder)(const char* folder);
} weft_module;

/* What the module weft-backend-cuda exports. */
__attribute__((visibility("default"))) const weft_module* weft_cuda_module(void);

/* Loads the module in that file, for as long as the process lives. WEFT_LIBRARY_ERROR with
 * weft_last_error: what the system says, also of a library that is missing; or that it was built
 * for another edge. */
weft_status weft_load_module(const char* path, const weft_module** module);

#ifdef __cplusplus
}
#endif

#endif
