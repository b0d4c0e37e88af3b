// SPDX-License-Identifier: Apache-2.0
// The little of the CUDA runtime that kernels need. runtime.cpp calls it; tests/kernels/emulation
// runs the same calls on the host.
#pragma once

#include "kernels/weft_kernels.h"

#include <cstddef>
#include <cstdint>
#if !defined(__CUDACC__)
#include <functional>
#endif

namespace weft::kernels::cuda {

struct Grid {
    long long x, y; // blocks
    int threads;    // of a block
};

/// Zeros that host and device read and write at the same address; never given back. Throws Failure.
void* memory_of_host_and_device(std::size_t bytes);

#if defined(__CUDACC__)
/// `arguments` are addresses of the parameters. Throws Failure.
void start_on_device(weft_stream* stream, const Grid& grid, const void* kernel, void** arguments);

template <class... P>
void start_kernel(weft_stream* stream, const Grid& grid, void (*kernel)(P...), P... arguments) {
    void* addresses[] = {&arguments...};
    start_on_device(stream, grid, reinterpret_cast<const void*>(kernel), addresses);
}
#else
/// Queues `thread` to be run once per thread of the grid; where there is no stream, runs it at
/// once. Throws Failure with what went wrong.
void emulate(weft_stream* stream, const Grid& grid, std::function<void()> thread);

template <class... P>
void start_kernel(weft_stream* stream, const Grid& grid, void (*kernel)(P...), P... arguments) {
    emulate(stream, grid, [=] { kernel(arguments...); });
}
#endif

} // namespace weft::kernels::cuda
