// SPDX-License-Identifier: Apache-2.0
// malloc and new of the programs, on top of mimalloc, whose own `new` aborts where there is no
// memory. This one throws, so that a run can say what happened and be resumed. Some cannot do
// without: destructors that allocate, oneDNN 2.6 (makes its objects at address zero), HDF5 1.10
// (reports the failure to itself for ever). All of them ask for little, and get it of the reserve
// of the kernels, whose next call then tells.
#include "kernels/weft_kernels.h"

#include <cerrno>
#include <cstddef>
#include <new>

#include <mimalloc.h>

#define WEFT_ALLOCATES extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::size_t kLittle = 1 << 20;

/// What `allocate` returns, which gets a second chance.
template <class Allocate>
void* in_need(std::size_t size, const Allocate& allocate) noexcept {
    void* memory = allocate();
    if (memory == nullptr && size <= kLittle) {
        weft_release_reserve();
        memory = allocate();
    }
    return memory;
}

void* aligned(std::size_t size, std::size_t alignment) noexcept {
    return in_need(size, [=] { return mi_malloc_aligned(size, alignment); });
}

void* checked(void* memory) {
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

} // namespace

WEFT_ALLOCATES void* malloc(std::size_t size) noexcept {
    return in_need(size, [=] { return mi_malloc(size); });
}

WEFT_ALLOCATES void* calloc(std::size_t count, std::size_t size) noexcept {
    return in_need(count > kLittle ? count : count * size, [=] { return mi_calloc(count, size); });
}

WEFT_ALLOCATES void* realloc(void* memory, std::size_t size) noexcept {
    return in_need(size, [=] { return mi_realloc(memory, size); });
}

WEFT_ALLOCATES int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
    const bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (!power_of_two || alignment % sizeof(void*) != 0) {
        return EINVAL;
    }
    void* got = aligned(size, alignment);
    if (got == nullptr) {
        return ENOMEM;
    }
    *memory = got;
    return 0;
}

void* operator new(std::size_t size) {
    return checked(malloc(size));
}
void* operator new[](std::size_t size) {
    return checked(malloc(size));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return checked(aligned(size, static_cast<std::size_t>(alignment)));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return checked(aligned(size, static_cast<std::size_t>(alignment)));
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
    return malloc(size);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
    return malloc(size);
}
void* operator new(std::size_t size, std::align_val_t alignment,
                   const std::nothrow_t& /*tag*/) noexcept {
    return aligned(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment,
                     const std::nothrow_t& /*tag*/) noexcept {
    return aligned(size, static_cast<std::size_t>(alignment));
}

// The other half of the pairs, so that none of them comes from another library.
void operator delete(void* memory) noexcept {
    mi_free(memory);
}
void operator delete[](void* memory) noexcept {
    mi_free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
    mi_free(memory);
}
void operator delete[](void* memory, std::size_t /*size*/) noexcept {
    mi_free(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
    mi_free(memory);
}
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept {
    mi_free(memory);
}
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
    mi_free(memory);
}
void operator delete[](void* memory, std::size_t /*size*/,
                       std::align_val_t /*alignment*/) noexcept {
    mi_free(memory);
}
