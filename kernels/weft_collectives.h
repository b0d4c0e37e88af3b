/* SPDX-License-Identifier: Apache-2.0 */
/* The edge of communication between devices: what is queued on a stream and done when the other
 * ranks of the group have come to the same call. Plain C, as weft_kernels.h.
 *
 * Every rank of a group queues the same calls in the same order. Groups that share devices are
 * joined in the same order everywhere, and their calls queued in the same order, or on streams that
 * can run side by side. */
#ifndef WEFT_COLLECTIVES_H
#define WEFT_COLLECTIVES_H

#include "kernels/weft_device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_group weft_group; /* one rank's end; opaque */

/* Made by one rank, handed to the others by whoever knows them. */
typedef struct weft_group_name {
    char bytes[128];
} weft_group_name;

typedef enum weft_collective {
    WEFT_ALL_REDUCE = 0,     /* from [n] -> to [n], reduced; `to` may be `from` */
    WEFT_ALL_GATHER = 1,     /* from [n] -> to [size, n] in rank order */
    WEFT_REDUCE_SCATTER = 2, /* from [size, n] -> to [n]: part `rank`, reduced */
    WEFT_ALL_TO_ALL = 3, /* from [size, n] -> to [size, n]: part s of `to` is part `rank` of s */
    WEFT_PERMUTE = 4,    /* from [n] -> to [n] of rank + shift, counted round */
    WEFT_SEND = 5,       /* from [n] to `peer` */
    WEFT_RECEIVE = 6     /* to [n] from `peer` */
} weft_collective;

typedef enum weft_reduction { WEFT_SUM = 0, WEFT_MAX = 1 } weft_reduction;

typedef struct weft_transfer {
    const void* from; /* null: WEFT_RECEIVE */
    void* to;         /* null: WEFT_SEND */
    int64_t count;    /* n above */
    int32_t dtype;    /* weft_dtype */
} weft_transfer;

typedef struct weft_collective_call {
    int32_t kind;      /* weft_collective */
    int32_t reduction; /* weft_reduction */
    int32_t shift;     /* WEFT_PERMUTE */
    int32_t peer;      /* rank in the group */
    int32_t transfers; /* go together */
    const weft_transfer* list;
} weft_collective_call;

typedef struct weft_collectives {
    const char* name; /* "nccl" */
    weft_status (*name_group)(weft_group_name* name);
    /* Begins to meet the other ranks; does not wait. The calling thread has entered the device. */
    weft_status (*join)(weft_device* device, const weft_group_name* name, int32_t size,
                        int32_t rank, weft_group** group);
    /* Whether all `size` ranks have come. Nothing is called in a group before. */
    weft_status (*is_joined)(weft_group* group, int32_t* joined);
    weft_status (*call)(weft_group* group, const weft_collective_call* call, weft_stream* stream);
    /* WEFT_OK, or what has gone wrong since: a rank that died, a connection that broke. */
    weft_status (*check)(weft_group* group);
    /* Ends what hangs; any thread; does not wait. The group is of no more use. */
    void (*abort)(weft_group* group);
    void (*leave)(weft_group* group);
    const char* (*last_error)(void);
} weft_collectives;

#ifdef __cplusplus
}
#endif

#endif
