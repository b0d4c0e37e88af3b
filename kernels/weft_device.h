/* SPDX-License-Identifier: Apache-2.0 */
/* The device edge: memory, copies, queues and graphs of the devices that a back end's kernels
 * compute on. Plain C, as weft_kernels.h. A platform is all devices of one kind: "cpu" is the host
 * itself, "cuda" lies in a module that is loaded at run time.
 *
 * Work is queued on streams and done in the order of its stream. What two streams touch in common
 * is ordered by events: record behind the one, wait before the other. Calls return when the work is
 * queued; `finish` and `await` wait. On the host everything is done when it returns.
 *
 * A thread enters a device before it calls anything else of the device, or kernels for it. One
 * thread at a time queues on a device. */
#ifndef WEFT_DEVICE_H
#define WEFT_DEVICE_H

#include "kernels/weft_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_device weft_device; /* opaque; owned by the platform that opened it */
typedef struct weft_event weft_event;
typedef struct weft_graph weft_graph;

typedef struct weft_device_facts {
    char name[128];     /* "NVIDIA H100 80GB HBM3" */
    char id[64];        /* lasts over restarts; may be empty */
    int32_t capability; /* CUDA: 90 for 9.0; else 0 */
    int32_t processors; /* multiprocessors; cores */
    int64_t memory_bytes;
    int64_t free_bytes; /* now */
    char driver[64];    /* version, as people write it; may be empty */
} weft_device_facts;

/* What a device has come past, in memory that the host reads while the device works: cleared
 * memory from reserve_host. */
typedef struct weft_mark {
    uint64_t count; /* times; written last */
    uint64_t ns[2]; /* the device's clock at the last two: of time n in ns[n % 2] */
} weft_mark;

typedef struct weft_platform {
    const char* name; /* "cpu", "cuda" */
    int32_t
        host_reaches_memory; /* arenas are host memory: no copies, streams or graphs are needed */

    weft_status (*count)(int32_t* devices);
    weft_status (*describe)(int32_t index, weft_device_facts* facts);
    weft_status (*open)(int32_t index, weft_device** device);
    void (*close)(weft_device* device);
    weft_status (*enter)(weft_device* device);

    /* Addresses for `bytes` of device memory, aligned to 256. */
    weft_status (*reserve)(weft_device* device, int64_t bytes, void** arena);
    /* Bytes [from, to) of it are there from now on, and zero where nobody has written them. In
     * order: `from` is where the last call ended. */
    weft_status (*take)(weft_device* device, void* arena, int64_t from, int64_t to);
    void (*give_back)(weft_device* device, void* arena, int64_t bytes);
    /* Host memory that copies reach without a detour. */
    weft_status (*reserve_host)(weft_device* device, int64_t bytes, void** memory);
    void (*give_back_host)(weft_device* device, void* memory, int64_t bytes);

    /* None where the host reaches the memory: null and WEFT_OK. */
    weft_status (*make_stream)(weft_device* device, weft_stream** stream);
    void (*drop_stream)(weft_stream* stream);
    /* Waits until all that was queued is done. Tells also of bad data that a kernel has met:
     * WEFT_BAD_ARGUMENT. */
    weft_status (*finish)(weft_stream* stream);
    /* Whether all of it is done already; does not wait. */
    weft_status (*is_finished)(weft_stream* stream, int32_t* finished);
    /* Host memory stays as it is until the copy is done. */
    weft_status (*upload)(weft_stream* stream, void* to, const void* from, int64_t bytes);
    weft_status (*download)(weft_stream* stream, void* to, const void* from, int64_t bytes);
    /* From one place of the device's memory to another. */
    weft_status (*copy)(weft_stream* stream, void* to, const void* from, int64_t bytes);

    weft_status (*make_event)(weft_device* device, weft_event** event);
    void (*drop_event)(weft_event* event);
    weft_status (*record)(weft_event* event, weft_stream* stream);
    /* What is queued on the stream from now on begins after what was queued before the record. An
     * event that was never recorded is not waited for. */
    weft_status (*wait)(weft_stream* stream, weft_event* event);
    /* The host waits until what was queued before the last record is done; tells of bad data as
     * `finish` does. */
    weft_status (*await)(weft_event* event);
    /* Whether what was queued before the record is done; does not wait. */
    weft_status (*is_past)(weft_event* event, int32_t* past);

    /* Counts the mark when what was queued on the stream before is done; in a graph with each
     * replay. A mark has one stream. */
    weft_status (*mark)(weft_stream* stream, weft_mark* mark);

    /* Between the two calls nothing is done: what the stream, and streams that wait for its events,
     * are given becomes the graph. They are joined again before the end. */
    weft_status (*begin_graph)(weft_stream* stream);
    weft_status (*end_graph)(weft_stream* stream, weft_graph** graph);
    weft_status (*replay)(weft_graph* graph, weft_stream* stream);
    void (*drop_graph)(weft_graph* graph);

    const char* (*last_error)(void); /* of the calling thread */
} weft_platform;

/* The host itself. Arenas are mapped memory whose pages come when they are taken. */
const weft_platform* weft_cpu_platform(void);

#ifdef __cplusplus
}
#endif

#endif
