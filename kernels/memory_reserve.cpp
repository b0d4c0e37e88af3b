// SPDX-License-Identifier: Apache-2.0
#include "kernels/memory_reserve.h"

#include "kernels/weft_kernels.h"

#include <atomic>
#include <cstddef>

#include <sys/mman.h>

namespace weft::kernels {
namespace {

// Allocators ask the system for whole segments, 32 MiB in mimalloc, and for more to align them. It
// is room that is kept, not memory.
constexpr std::size_t kReserveBytes = 96ull << 20;

void* lay_in() noexcept {
    void* room = ::mmap(nullptr, kReserveBytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room == MAP_FAILED ? nullptr : room;
}

std::atomic<void*> reserve = lay_in();
std::atomic<bool> needed = false;

} // namespace

bool reserve_was_needed() noexcept {
    if (!needed.load(std::memory_order_relaxed) || !needed.exchange(false)) {
        return false;
    }
    if (reserve == nullptr) {
        reserve = lay_in();
    }
    return true;
}

} // namespace weft::kernels

void weft_release_reserve() {
    using namespace weft::kernels;
    needed = true;
    if (void* room = reserve.exchange(nullptr)) {
        ::munmap(room, kReserveBytes);
    }
}
