// SPDX-License-Identifier: Apache-2.0
// What kernels of the CUDA back end share on the host's side: starting a grid, the pointers of a
// run, and faults that a running kernel finds.
#pragma once

#include "kernels/cuda/dialect.h"
#include "kernels/cuda/faults.h"
#include "kernels/cuda/wrappers/runtime.h"
#include "kernels/op.h"

#include <algorithm>
#include <initializer_list>
#include <type_traits>

namespace weft::kernels::cuda {

using Made = std::unique_ptr<Kernel>;

constexpr i64 ceil_divide(i64 a, i64 b) {
    return (a + b - 1) / b;
}

/// Blocks of 256 threads for `items` of work, of which threads take one after another: no more
/// than keep a large GPU busy.
inline Grid grid_over(i64 items) {
    constexpr i64 kMost = 4096;
    return {std::min(ceil_divide(items, 256), kMost), 1, 256};
}

/// Kernels return a status and are queued: the pointers of a run as they see them.
class Run {
public:
    explicit Run(const weft_run_args& args) : args_(args) {}

    const void* in(int i) const { return args_.inputs[i]; }
    void* out(int i) const { return args_.outputs[i]; }
    template <class T = void>
    T* workspace(std::int64_t offset = 0) const {
        return reinterpret_cast<T*>(static_cast<unsigned char*>(args_.workspace) + offset);
    }
    weft_stream* stream() const { return args_.stream; }

    /// Queues kernel(arguments...); an empty grid is no work.
    template <class... P, class... A>
    void launch(const Grid& grid, void (*kernel)(P...), A... arguments) const {
        if (grid.x > 0 && grid.y > 0) {
            start_kernel<P...>(stream(), grid, kernel, static_cast<P>(arguments)...);
        }
    }

private:
    const weft_run_args& args_;
};

/// A kernel that is a function of its run: `queue(Run)` launches.
template <class Queue>
class Launches final : public Kernel {
public:
    Launches(std::int64_t workspace_bytes, Queue queue) : queue_(std::move(queue)) {
        workspace_bytes_ = workspace_bytes;
    }
    weft_status run(const weft_run_args& args) override {
        queue_(Run(args));
        return reported_fault();
    }

private:
    Queue queue_;
};

template <class Queue>
Made launches(std::int64_t workspace_bytes, Queue queue) {
    return std::make_unique<Launches<Queue>>(workspace_bytes, std::move(queue));
}
template <class Queue>
Made launches(Queue queue) {
    return launches(0, std::move(queue));
}

/// f32, bf16 or f16; else the kernel is not for this op.
inline std::int32_t float_dtype(const Type& type) {
    if (type.dtype != WEFT_F32 && type.dtype != WEFT_BF16 && type.dtype != WEFT_F16) {
        unsupported("numbers in f32, bf16 or f16 only");
    }
    return type.dtype;
}
/// Declines what is not `dtype`.
inline void want_dtype(const Type& type, std::int32_t dtype) {
    if (type.dtype != dtype) {
        unsupported(dtype == WEFT_F32 ? "statistics and parameters in f32 only"
                                      : "indices and labels in i32 only");
    }
}

inline bool aligned_to(const void* address, i64 bytes) {
    return reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(bytes) == 0;
}

/// The widest access, at most 16 bytes, that divides `run` bytes and all addresses.
inline i64 widest_bytes(i64 run, std::initializer_list<const void*> addresses) {
    i64 bytes = 16;
    while (bytes > 1 && (run % bytes != 0 ||
                         !std::all_of(addresses.begin(), addresses.end(), [=](const void* address) {
                             return aligned_to(address, bytes);
                         }))) {
        bytes /= 2;
    }
    return bytes;
}

/// Calls fn with a width of 1, 2, 4, 8 or 16 bytes as a constant.
template <class Fn>
void with_bytes(i64 bytes, Fn fn) {
    switch (bytes) {
    case 1: return fn(std::integral_constant<int, 1>());
    case 2: return fn(std::integral_constant<int, 2>());
    case 4: return fn(std::integral_constant<int, 4>());
    case 8: return fn(std::integral_constant<int, 8>());
    default: return fn(std::integral_constant<int, 16>());
    }
}

} // namespace weft::kernels::cuda
