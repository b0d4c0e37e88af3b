// SPDX-License-Identifier: Apache-2.0
// Loaded before a program that allocates by mimalloc (LD_PRELOAD): counts what is asked for from
// the beginning of main, and refuses from the FAIL_AT-th to before the FAIL_UNTIL-th, but nothing
// little while the program has given room back to the system. Without FAIL_AT it only counts;
// FAIL_COUNT_TO names the file that gets the count at the end.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/types.h>

namespace {

constexpr long kNever = std::numeric_limits<long>::max();
std::atomic<long> asked = 0;
long refuse_from = kNever;
long refuse_until = kNever;
std::atomic<bool> counting = false;
constexpr std::size_t kLittle = 1 << 20;
constexpr std::size_t kRoom = 64 << 20;
std::atomic<bool> room_given_back = false;

bool refused(std::size_t bytes) {
    if (!counting) {
        return false;
    }
    const long n = ++asked;
    const bool fits = room_given_back && bytes <= kLittle;
    return n >= refuse_from && n < refuse_until && !fits;
}

template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

using Main = int(int, char**, char**);
Main* real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
    if (const char* from = std::getenv("FAIL_AT")) {
        refuse_from = std::atol(from);
        const char* until = std::getenv("FAIL_UNTIL");
        refuse_until = until != nullptr ? std::atol(until) : refuse_from + 1;
    }
    counting = true;
    const int code = real_main(argc, argv, environment);
    counting = false;
    if (const char* file = std::getenv("FAIL_COUNT_TO")) {
        if (std::FILE* out = std::fopen(file, "w")) {
            std::fprintf(out, "%ld\n", asked.load());
            std::fclose(out);
        }
    }
    return code;
}

} // namespace

#define WEFT_INTERPOSED extern "C" __attribute__((visibility("default")))

WEFT_INTERPOSED void* mi_malloc(std::size_t size) {
    static auto* const real = next<void*(std::size_t)>("mi_malloc");
    return refused(size) ? nullptr : real(size);
}

WEFT_INTERPOSED void* mi_calloc(std::size_t count, std::size_t size) {
    static auto* const real = next<void*(std::size_t, std::size_t)>("mi_calloc");
    return refused(count * size) ? nullptr : real(count, size);
}

WEFT_INTERPOSED void* mi_realloc(void* memory, std::size_t size) {
    static auto* const real = next<void*(void*, std::size_t)>("mi_realloc");
    return refused(size) ? nullptr : real(memory, size);
}

WEFT_INTERPOSED void* mi_malloc_aligned(std::size_t size, std::size_t alignment) {
    static auto* const real = next<void*(std::size_t, std::size_t)>("mi_malloc_aligned");
    return refused(size) ? nullptr : real(size, alignment);
}

WEFT_INTERPOSED int munmap(void* memory, std::size_t size) noexcept {
    static auto* const real = next<int(void*, std::size_t)>("munmap");
    room_given_back = room_given_back || size >= kRoom;
    return real(memory, size);
}

// Room that is mapped, and not memory, is the reserve that is laid in anew.
WEFT_INTERPOSED void* mmap(void* at, std::size_t size, int protection, int flags, int file,
                           off_t offset) noexcept {
    static auto* const real = next<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
    room_given_back = room_given_back && !(size >= kRoom && protection == PROT_NONE);
    return real(at, size, protection, flags, file, offset);
}

WEFT_INTERPOSED int __libc_start_main(Main* main, int argc, char** argv, void (*init)(),
                                      void (*fini)(), void (*loader_fini)(), void* stack_end) {
    real_main = main;
    auto* const real = next<int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*)>(
        "__libc_start_main");
    return real(counted_main, argc, argv, init, fini, loader_fini, stack_end);
}
