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

void give_back() noexcept {
    if (void* room = reserve.exchange(nullptr)) {
        ::munmap(room, kReserveBytes);
    }
}

} // namespace

bool reserve_is_kept() noexcept {
    if (reserve.load(std::memory_order_relaxed) != nullptr) {
        return true;
    }
    void* room = lay_in();
    void* none = nullptr;
    if (room != nullptr && !reserve.compare_exchange_strong(none, room)) {
        ::munmap(room, kReserveBytes); // another thread was quicker
    }
    return room != nullptr;
}

bool reserve_was_needed() noexcept {
    return needed.load(std::memory_order_relaxed) && needed.exchange(false);
}

LentReserve::LentReserve() noexcept {
    give_back();
}

LentReserve::~LentReserve() {
    if (!reserve_is_kept()) {
        needed = true;
    }
}

} // namespace weft::kernels

void weft_release_reserve() {
    weft::kernels::needed = true;
    weft::kernels::give_back();
}
