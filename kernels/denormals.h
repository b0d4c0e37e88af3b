// SPDX-License-Identifier: Apache-2.0
// Denormal numbers count as zero in kernels, as XLA has it on CPUs. Moments of an optimizer whose
// gradients have ended shrink until they are denormal and stay it, and arithmetic on denormals
// takes a hundred times as long.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <cstdint>
#endif

namespace weft::kernels {

/// For the calling thread while it lives, and for good for threads that start meanwhile: they begin
/// with the floating-point mode of the thread that starts them, so the OpenMP team has it too.
class DenormalsAreZero {
public:
    DenormalsAreZero() : before_(mode()) { set_mode(before_ | kFlush); }
    ~DenormalsAreZero() { set_mode(before_); }
    DenormalsAreZero(const DenormalsAreZero&) = delete;
    DenormalsAreZero& operator=(const DenormalsAreZero&) = delete;

private:
#if defined(__x86_64__)
    using Mode = unsigned int;
    static constexpr Mode kFlush = 0x8040; // results (FTZ) and operands (DAZ)
    static Mode mode() {
        return _mm_getcsr();
    }
    static void set_mode(Mode mode) {
        _mm_setcsr(mode);
    }
#elif defined(__aarch64__)
    using Mode = std::uint64_t;
    static constexpr Mode kFlush = 1U << 24; // FZ: both
    static Mode mode() {
        Mode mode = 0;
        asm volatile("mrs %0, fpcr" : "=r"(mode));
        return mode;
    }
    static void set_mode(Mode mode) {
        asm volatile("msr fpcr, %0" : : "r"(mode));
    }
#else
    using Mode = int;
    static constexpr Mode kFlush = 0;
    static Mode mode() {
        return 0;
    }
    static void set_mode(Mode) {}
#endif

    const Mode before_;
};

} // namespace weft::kernels
