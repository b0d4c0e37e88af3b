// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/emulation/fiber.h"

#include <cstdint>
#include <new>

#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace weft::test {
namespace {

constexpr std::size_t kStackBytes = 128 * 1024; // mapped when touched

// setjmp and longjmp keep the registers and make no system call, which swapcontext does twice.
// In a function of its own, so that no variable lives across them.
[[gnu::noinline]] void jump(std::jmp_buf& from, std::jmp_buf& to) {
    if (_setjmp(from) == 0) {
        _longjmp(to, 1);
    }
}

} // namespace

Fiber::Fiber()
    : stack_(mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (stack_ == MAP_FAILED) {
        throw std::bad_alloc();
    }
#if defined(__SANITIZE_THREAD__)
    inner_thread_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(inner_thread_);
#endif
    munmap(stack_, kStackBytes);
}

void Fiber::enter(unsigned high, unsigned low) {
    auto* self = reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low);
    self->loop();
}

void Fiber::loop() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &outer_bottom_, &outer_size_);
#endif
    while (true) {
        (*work_)();
        ended_ = true;
        yield();
    }
}

void Fiber::begin() {
    static thread_local ucontext_t outer;
    ucontext_t inner{};
    getcontext(&inner);
    inner.uc_stack.ss_sp = stack_;
    inner.uc_stack.ss_size = kStackBytes;
    inner.uc_link = nullptr; // the loop does not end
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&inner, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
    if (_setjmp(outside_) == 0) {
        swapcontext(&outer, &inner);
    }
}

bool Fiber::resume(const std::function<void()>& work) {
    work_ = &work;
    ended_ = false;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&outer_fake_, stack_, kStackBytes);
#endif
#if defined(__SANITIZE_THREAD__)
    outer_thread_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(inner_thread_, 0);
#endif
    if (begun_) {
        jump(outside_, inside_);
    } else {
        begun_ = true;
        begin();
    }
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(outer_fake_, nullptr, nullptr);
#endif
    return ended_;
}

void Fiber::yield() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&inner_fake_, outer_bottom_, outer_size_);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(outer_thread_, 0);
#endif
    jump(inside_, outside_);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(inner_fake_, &outer_bottom_, &outer_size_);
#endif
}

} // namespace weft::test
