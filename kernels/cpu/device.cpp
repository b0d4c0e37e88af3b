// SPDX-License-Identifier: Apache-2.0
// The host as a platform of the device edge. Simulated devices of a mesh open it once each. Arenas
// are mapped memory, zero-filled; pages come when they are taken, so that a plan's bytes are there
// before a run needs them, and those of programs that never run are not taken.
#include "kernels/weft_device.h"

#include "kernels/op.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

/// One arena is all that a device of a plan has.
struct weft_device {
    void* mapping = nullptr;
    std::size_t mapped = 0;
    std::size_t size = 0; // of the arena, which begins aligned within the mapping
};

namespace weft::kernels::cpu {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;

weft_status no_memory() {
    return fail(WEFT_OUT_OF_MEMORY, "the system has no such memory");
}

weft_status count_hosts(std::int32_t* devices) {
    *devices = 1;
    return WEFT_OK;
}

weft_status describe_host(std::int32_t, weft_device_facts* facts) {
    *facts = {};
    std::snprintf(facts->name, sizeof facts->name, "%s", weft_cpu_instruction_set());
    const std::int64_t page = sysconf(_SC_PAGESIZE);
    facts->processors = static_cast<std::int32_t>(sysconf(_SC_NPROCESSORS_ONLN));
    facts->memory_bytes = sysconf(_SC_PHYS_PAGES) * page;
    facts->free_bytes = sysconf(_SC_AVPHYS_PAGES) * page;
    return WEFT_OK;
}

weft_status open_host(std::int32_t, weft_device** device) {
    *device = new (std::nothrow) weft_device;
    return *device == nullptr ? no_memory() : WEFT_OK;
}

void close_host(weft_device* device) {
    delete device;
}

weft_status enter_host(weft_device*) {
    return WEFT_OK;
}

/// Asks for huge pages when the arena is large enough to gain from them.
weft_status reserve_arena(weft_device* device, std::int64_t bytes, void** arena) {
    if (device->mapping != nullptr) {
        return fail(WEFT_BAD_ARGUMENT, "the device has an arena already");
    }
    device->size = static_cast<std::size_t>(bytes);
    const bool huge = device->size >= 2 * kHugePage;
    const std::size_t alignment = huge ? kHugePage : kPage;
    device->mapped = std::max(device->size, std::size_t{1}) + alignment;
    void* const start =
        mmap(nullptr, device->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return no_memory();
    }
    device->mapping = start;
    *arena = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(start) + alignment - 1) /
                                     alignment * alignment);
    if (huge) { // advice only: without it the arena is merely slower
        madvise(*arena, device->size, MADV_HUGEPAGE);
    }
    return WEFT_OK;
}

std::size_t whole_pages(std::int64_t bytes) {
    return (static_cast<std::size_t>(bytes) + kPage - 1) / kPage * kPage;
}

weft_status take_arena(weft_device* device, void* arena, std::int64_t from, std::int64_t to) {
    const std::size_t begin = whole_pages(from);
    const std::size_t end = std::min(device->size, whole_pages(to));
    auto* const data = static_cast<unsigned char*>(arena);
    if (end <= begin || madvise(data + begin, end - begin, MADV_POPULATE_WRITE) == 0) {
        return WEFT_OK;
    }
    if (errno != EINVAL) {
        return no_memory();
    }
    for (std::size_t at = begin; at < end; at += kPage) { // before Linux 5.14
        volatile unsigned char* page = data + at;
        *page = *page; // arguments may have been written already
    }
    return WEFT_OK;
}

void give_back_arena(weft_device* device, void*, std::int64_t) {
    munmap(device->mapping, device->mapped);
    device->mapping = nullptr;
}

weft_status reserve_memory(weft_device*, std::int64_t bytes, void** memory) {
    *memory = std::malloc(static_cast<std::size_t>(bytes));
    return *memory == nullptr ? no_memory() : WEFT_OK;
}

void give_back_memory(weft_device*, void* memory, std::int64_t) {
    std::free(memory);
}

// Everything is done when it returns: there is nothing to wait for.
weft_status no_stream(weft_device*, weft_stream** stream) {
    *stream = nullptr;
    return WEFT_OK;
}
void drop_no_stream(weft_stream*) {}
weft_status nothing_to_finish(weft_stream*) {
    return WEFT_OK;
}
weft_status is_always_finished(weft_stream*, std::int32_t* finished) {
    *finished = 1;
    return WEFT_OK;
}
weft_status copy(weft_stream*, void* to, const void* from, std::int64_t bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return WEFT_OK;
}
weft_status no_event(weft_device*, weft_event** event) {
    *event = nullptr;
    return WEFT_OK;
}
void drop_no_event(weft_event*) {}
weft_status record_nothing(weft_event*, weft_stream*) {
    return WEFT_OK;
}
weft_status wait_for_nothing(weft_stream*, weft_event*) {
    return WEFT_OK;
}
weft_status await_nothing(weft_event*) {
    return WEFT_OK;
}

weft_status is_always_past(weft_event*, std::int32_t* past) {
    *past = 1;
    return WEFT_OK;
}

weft_status no_marks(weft_stream*, weft_mark*) {
    return fail(WEFT_UNSUPPORTED, "the host needs no marks: what it was given is done");
}

weft_status no_graphs() {
    return fail(WEFT_UNSUPPORTED, "the host has no graphs: it runs kernels one after another");
}
weft_status begin_no_graph(weft_stream*) {
    return no_graphs();
}
weft_status end_no_graph(weft_stream*, weft_graph**) {
    return no_graphs();
}
weft_status replay_no_graph(weft_graph*, weft_stream*) {
    return no_graphs();
}
void drop_no_graph(weft_graph*) {}

constexpr weft_platform kHost = {
    .name = "cpu",
    .host_reaches_memory = 1,
    .count = count_hosts,
    .describe = describe_host,
    .open = open_host,
    .close = close_host,
    .enter = enter_host,
    .reserve = reserve_arena,
    .take = take_arena,
    .give_back = give_back_arena,
    .reserve_host = reserve_memory,
    .give_back_host = give_back_memory,
    .make_stream = no_stream,
    .drop_stream = drop_no_stream,
    .finish = nothing_to_finish,
    .is_finished = is_always_finished,
    .upload = copy,
    .download = copy,
    .copy = copy,
    .make_event = no_event,
    .drop_event = drop_no_event,
    .record = record_nothing,
    .wait = wait_for_nothing,
    .await = await_nothing,
    .is_past = is_always_past,
    .mark = no_marks,
    .begin_graph = begin_no_graph,
    .end_graph = end_no_graph,
    .replay = replay_no_graph,
    .drop_graph = drop_no_graph,
    .last_error = weft_last_error,
};

} // namespace
} // namespace weft::kernels::cpu

extern "C" const weft_platform* weft_cpu_platform(void) {
    return &weft::kernels::cpu::kHost;
}
