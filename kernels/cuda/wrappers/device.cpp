// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs as a platform of the device edge: each function is a call or two of the CUDA runtime.
// tests/kernels/emulation has the same platform without a GPU.
#include "kernels/cuda/faults.h"
#include "kernels/cuda/module.h"
#include "kernels/cuda/wrappers/gpu_id.h"
#include "kernels/cuda/wrappers/runtime.h"
#include "kernels/cuda/wrappers/stream.h"

#include <cstdio>

struct weft_device {
    int index;
};
struct weft_event {
    cudaEvent_t handle;
};
struct weft_graph {
    cudaGraphExec_t handle;
};

namespace weft::kernels::cuda {
namespace {

/// Runs `body` at the edge: what it throws becomes a status.
template <class Body>
weft_status at_device(Body body) noexcept {
    return as_status("out of memory in the CUDA back end", body);
}

weft_status count_gpus(std::int32_t* devices) {
    int found = 0;
    const cudaError_t error = cudaGetDeviceCount(&found);
    *devices = error == cudaErrorNoDevice ? 0 : found;
    return at_device([&] {
        int driver = 0; // "insufficient" is said of one that is not there, too
        if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess &&
            driver == 0) {
            throw Failure{WEFT_LIBRARY_ERROR,
                          "the NVIDIA driver (libcuda.so.1) is missing: install one for CUDA " +
                              std::to_string(CUDART_VERSION / 1000)};
        }
        if (error != cudaErrorNoDevice) {
            check(error, "looking for GPUs");
        }
    });
}

weft_status describe_gpu(std::int32_t index, weft_device_facts* facts) {
    return at_device([&] {
        *facts = {};
        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, index), "asking a GPU what it is");
        std::snprintf(facts->name, sizeof facts->name, "%.127s", properties.name);
        write_id(properties.uuid, facts->id);
        facts->capability = properties.major * 10 + properties.minor;
        facts->processors = properties.multiProcessorCount;
        facts->memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
        int before = 0;
        check(cudaGetDevice(&before), "asking a GPU what it is");
        check(cudaSetDevice(index), "asking a GPU what it is");
        std::size_t free_bytes = 0;
        std::size_t all_bytes = 0;
        const cudaError_t error = cudaMemGetInfo(&free_bytes, &all_bytes);
        check(cudaSetDevice(before), "asking a GPU what it is");
        check(error, "asking a GPU for its free memory");
        facts->free_bytes = static_cast<std::int64_t>(free_bytes);
        int version = 0;
        check(cudaDriverGetVersion(&version), "the version of the driver");
        std::snprintf(facts->driver, sizeof facts->driver, "CUDA %d.%d", version / 1000,
                      version % 1000 / 10);
    });
}

weft_status open_gpu(std::int32_t index, weft_device** device) {
    return at_device([&] {
        check(cudaSetDevice(index), "opening a GPU");
        check(cudaFree(nullptr), "opening a GPU"); // makes the context
        *device = new weft_device{index};
    });
}

void close_gpu(weft_device* device) {
    delete device;
}

weft_status enter_gpu(weft_device* device) {
    return at_device([&] { check(cudaSetDevice(device->index), "entering a GPU"); });
}

weft_status reserve_arena(weft_device*, std::int64_t bytes, void** arena) {
    return at_device([&] {
        const auto size = static_cast<std::size_t>(bytes > 0 ? bytes : 1);
        check(cudaMalloc(arena, size), "memory of a GPU");
        check(cudaMemset(*arena, 0, size), "clearing memory of a GPU");
    });
}

weft_status take_arena(weft_device*, void*, std::int64_t, std::int64_t) {
    return WEFT_OK; // reserve has all of it
}

void give_back_arena(weft_device*, void* arena, std::int64_t) {
    cudaFree(arena);
}

weft_status reserve_pinned(weft_device*, std::int64_t bytes, void** memory) {
    return at_device([&] {
        check(cudaHostAlloc(memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable),
              "pinned memory of the host");
    });
}

void give_back_pinned(weft_device*, void* memory, std::int64_t) {
    cudaFreeHost(memory);
}

weft_status make_stream(weft_device*, weft_stream** stream) {
    return at_device([&] {
        cudaStream_t made = nullptr;
        check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "making a stream");
        *stream = new weft_stream{made};
    });
}

void drop_stream(weft_stream* stream) {
    if (stream != nullptr) {
        cudaStreamDestroy(stream->handle);
        delete stream;
    }
}

weft_status finish_stream(weft_stream* stream) {
    const weft_status status =
        at_device([&] { check(cudaStreamSynchronize(stream->handle), "work on a GPU"); });
    return status == WEFT_OK ? reported_fault() : status;
}

weft_status is_stream_finished(weft_stream* stream, std::int32_t* finished) {
    return at_device([&] {
        const cudaError_t error = cudaStreamQuery(stream->handle);
        *finished = error == cudaSuccess ? 1 : 0;
        if (error != cudaErrorNotReady) {
            check(error, "work on a GPU");
        }
    });
}

weft_status copy_up(weft_stream* stream, void* to, const void* from, std::int64_t bytes) {
    return at_device([&] {
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
                              stream->handle),
              "copying to a GPU");
    });
}

weft_status copy_down(weft_stream* stream, void* to, const void* from, std::int64_t bytes) {
    return at_device([&] {
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost,
                              stream->handle),
              "copying from a GPU");
    });
}

weft_status copy_within(weft_stream* stream, void* to, const void* from, std::int64_t bytes) {
    return at_device([&] {
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                              stream->handle),
              "copying within a GPU");
    });
}

weft_status make_event(weft_device*, weft_event** event) {
    return at_device([&] {
        cudaEvent_t made = nullptr;
        check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "making an event");
        *event = new weft_event{made};
    });
}

void drop_event(weft_event* event) {
    if (event != nullptr) {
        cudaEventDestroy(event->handle);
        delete event;
    }
}

weft_status record_event(weft_event* event, weft_stream* stream) {
    return at_device([&] { check(cudaEventRecord(event->handle, stream->handle), "an event"); });
}

weft_status wait_for_event(weft_stream* stream, weft_event* event) {
    return at_device(
        [&] { check(cudaStreamWaitEvent(stream->handle, event->handle, 0), "an event"); });
}

weft_status await_event(weft_event* event) {
    const weft_status status =
        at_device([&] { check(cudaEventSynchronize(event->handle), "work on a GPU"); });
    return status == WEFT_OK ? reported_fault() : status;
}

weft_status is_event_past(weft_event* event, std::int32_t* past) {
    return at_device([&] {
        const cudaError_t error = cudaEventQuery(event->handle);
        *past = error == cudaSuccess ? 1 : 0;
        if (error != cudaErrorNotReady) {
            check(error, "work on a GPU");
        }
    });
}

/// The host reads the count first, so it is written last.
__global__ void count_mark(volatile unsigned long long* count, volatile unsigned long long* ns) {
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    const unsigned long long number = *count + 1;
    ns[number % 2] = now;
    __threadfence_system();
    *count = number;
}

/// A kernel, as a write of a stream (cuStreamWriteValue64) writes the same number in every replay.
/// Pinned memory has one address for host and devices where addresses are unified, which they are
/// on all 64-bit systems (CUDA programming guide, "Unified Virtual Address Space").
weft_status count_past(weft_stream* stream, weft_mark* mark) {
    return at_device([&] {
        using Word = volatile unsigned long long;
        start_kernel<Word*, Word*>(stream, {1, 1, 1}, count_mark,
                                   reinterpret_cast<Word*>(&mark->count),
                                   reinterpret_cast<Word*>(mark->ns));
    });
}

/// Other threads may allocate and wait meanwhile: they drive other devices.
weft_status begin_graph(weft_stream* stream) {
    return at_device([&] {
        check(cudaStreamBeginCapture(stream->handle, cudaStreamCaptureModeThreadLocal),
              "beginning a graph");
    });
}

weft_status end_graph(weft_stream* stream, weft_graph** graph) {
    return at_device([&] {
        cudaGraph_t captured = nullptr;
        check(cudaStreamEndCapture(stream->handle, &captured), "ending a graph");
        cudaGraphExec_t made = nullptr;
        const cudaError_t error = cudaGraphInstantiate(&made, captured, 0);
        cudaGraphDestroy(captured);
        check(error, "making a graph");
        *graph = new weft_graph{made};
    });
}

weft_status replay_graph(weft_graph* graph, weft_stream* stream) {
    return at_device([&] { check(cudaGraphLaunch(graph->handle, stream->handle), "a graph"); });
}

void drop_graph(weft_graph* graph) {
    if (graph != nullptr) {
        cudaGraphExecDestroy(graph->handle);
        delete graph;
    }
}

constexpr weft_platform kGpus = {
    .name = "cuda",
    .host_reaches_memory = 0,
    .count = count_gpus,
    .describe = describe_gpu,
    .open = open_gpu,
    .close = close_gpu,
    .enter = enter_gpu,
    .reserve = reserve_arena,
    .take = take_arena,
    .give_back = give_back_arena,
    .reserve_host = reserve_pinned,
    .give_back_host = give_back_pinned,
    .make_stream = make_stream,
    .drop_stream = drop_stream,
    .finish = finish_stream,
    .is_finished = is_stream_finished,
    .upload = copy_up,
    .download = copy_down,
    .copy = copy_within,
    .make_event = make_event,
    .drop_event = drop_event,
    .record = record_event,
    .wait = wait_for_event,
    .await = await_event,
    .is_past = is_event_past,
    .mark = count_past,
    .begin_graph = begin_graph,
    .end_graph = end_graph,
    .replay = replay_graph,
    .drop_graph = drop_graph,
    .last_error = weft_last_error,
};

} // namespace
} // namespace weft::kernels::cuda

extern "C" const weft_platform* weft_cuda_platform(void) {
    return &weft::kernels::cuda::kGpus;
}
