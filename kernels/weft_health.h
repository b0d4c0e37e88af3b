/* SPDX-License-Identifier: Apache-2.0 */
/* The edge of health: how the devices of a platform are, and what it stands on. Nothing is opened
 * for it: a look gives no device a context, which would take memory from whoever works there.
 * Plain C, as weft_kernels.h. Any thread; a look takes milliseconds, so that no thread that queues
 * work takes it. */
#ifndef WEFT_HEALTH_H
#define WEFT_HEALTH_H

#include "kernels/weft_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_device_health {
    char name[128]; /* these as in weft_device_facts */
    char id[64];
    int32_t capability;
    int32_t processors;
    int64_t memory_bytes;
    /* Below 0: not known. */
    int64_t memory_used_bytes; /* by all processes */
    double utilisation;        /* share of the last moments in which it computed, 0 to 1 */
    double power_w;
    double power_limit_w;
    double temperature_c;
    char unknown[256]; /* why something is not known, in a sentence; else "" */
} weft_device_health;

/* How two devices reach each other. */
typedef struct weft_device_link {
    int32_t nvlinks; /* that join them, by a switch too; 0: none */
    char path[64];   /* of PCIe, "one PCIe switch"; "": not known */
} weft_device_link;

typedef struct weft_library {
    char name[32];     /* "cuDNN" */
    char version[64];  /* as people write it; "": it is missing */
    char missing[256]; /* why, and what to install */
} weft_library;

enum { WEFT_MOST_LIBRARIES = 8 };

typedef struct weft_health {
    /* Devices are numbered as in the platform of the same module. */
    weft_status (*look)(int32_t index, weft_device_health* health);
    weft_status (*link)(int32_t one, int32_t other, weft_device_link* link);
    /* The driver first. At most WEFT_MOST_LIBRARIES. */
    weft_status (*libraries)(weft_library* list, int32_t* count);
    const char* (*last_error)(void); /* of the calling thread */
} weft_health;

#ifdef __cplusplus
}
#endif

#endif
