// SPDX-License-Identifier: Apache-2.0
// The dialect that our own GPU kernels are written in. nvcc and NVRTC make CUDA of it
// (dialect_cuda.h). The host compiler makes functions of it that tests run block by block, with a
// fiber per thread and checks of what a GPU would do silently (dialect_host.h).
//
//   WEFT_KERNEL f(...)            an entry point for blocks of at most 256 threads, WEFT_WIDE_KERNEL
//                                 for 1024, WEFT_NARROW_KERNEL for 128, which leaves a thread more
//                                 registers, as WEFT_LARGE_KERNEL does; its parameters are plain
//                                 values
//   WEFT_DEVICE                   before a function that kernels call
//   thread() threads()            place in the block and its size, a multiple of 32
//   block() blocks() block_y()    place in the grid
//   WEFT_UNROLL WEFT_ROLLED       before a loop over a register array; before one that is long
//   WEFT_SHARED(T, name, count)   an array that the threads of a block share
//   barrier() warp_barrier()      all threads of a block or warp have come here, and see what the
//                                 others wrote
//   shuffle(v, lane)              v of another lane of the warp; shuffle_xor likewise
//   ballot(flag)                  a bit per lane
//   atomic_add(array, i, n)       on shared integers, whose sum does not depend on the order
//   load_vector<Bytes>(p, to)     a single load of 1, 2, 4, 8 or 16 bytes; the address is aligned
//
// No std header and nothing of the host: NVRTC has neither.
#pragma once

#if defined(__CUDACC__)
#include "kernels/cuda/dialect_cuda.h"
#else
#include "kernels/cuda/dialect_host.h"
#endif

namespace weft::kernels::cuda {

constexpr int kWarp = 32;

/// An array in device memory that a kernel reads or writes; `dtype` is a weft_dtype.
struct Source {
    const void* data;
    int dtype;
};
struct Target {
    void* data;
    int dtype;
};

// The numbers of weft_dtype, which NVRTC cannot include; cuda.cpp checks them.
constexpr int kF32 = 0;
constexpr int kBf16 = 1;
constexpr int kF64 = 2;
constexpr int kI32 = 3;
constexpr int kI64 = 4;
constexpr int kU8 = 5;
constexpr int kF16 = 6;

WEFT_DEVICE float float_of_bf16(u16 bits) {
    return float_of_bits(static_cast<u32>(bits) << 16);
}

/// Rounded to bf16, to nearest even; likewise to f16.
WEFT_DEVICE float rounded_to_bf16(float value) {
    return float_of_bf16(bf16_of(value));
}
WEFT_DEVICE float rounded_to_f16(float value) {
    return float_of_f16(f16_of(value));
}

/// Of bf16 or f16.
WEFT_DEVICE float float_of_half(int dtype, u16 bits) {
    return dtype == kBf16 ? float_of_bf16(bits) : float_of_f16(bits);
}
WEFT_DEVICE u16 half_of(int dtype, float value) {
    return dtype == kBf16 ? bf16_of(value) : f16_of(value);
}

/// Element `at` of an array of f32, bf16 or f16.
WEFT_DEVICE float load(Source from, i64 at) {
    return from.dtype == kF32 ? static_cast<const float*>(from.data)[at]
                              : float_of_half(from.dtype, static_cast<const u16*>(from.data)[at]);
}

/// Rounds once.
WEFT_DEVICE void store(Target to, i64 at, float value) {
    if (to.dtype == kF32) {
        static_cast<float*>(to.data)[at] = value;
    } else {
        static_cast<u16*>(to.data)[at] = half_of(to.dtype, value);
    }
}

/// N consecutive elements, f32, bf16 or f16, as one or two loads: element `at` is aligned to as
/// many bytes as N elements have, at most 16.
template <int N>
WEFT_DEVICE void load_pack(Source from, i64 at, float (&to)[N]) {
    if (from.dtype == kF32) {
        const float* data = static_cast<const float*>(from.data) + at;
        u32 words[4];
        WEFT_UNROLL
        for (int part = 0; part < N; part += 4) {
            load_vector<16>(data + part, words);
            WEFT_UNROLL
            for (int k = 0; k < 4; ++k) {
                to[part + k] = float_of_bits(words[k]);
            }
        }
    } else {
        u32 words[N / 2];
        load_vector<N * 2>(static_cast<const u16*>(from.data) + at, words);
        WEFT_UNROLL
        for (int k = 0; k < N; ++k) { // the first of a pair is the lower half of its word
            to[k] = float_of_half(from.dtype, static_cast<u16>(words[k / 2] >> k % 2 * 16));
        }
    }
}

/// The first `count` of N consecutive elements at any address; `fallback` for the others.
template <int N>
WEFT_DEVICE void load_some(Source from, i64 at, i64 count, float fallback, float (&to)[N]) {
    if (from.dtype == kF32) {
        const float* data = static_cast<const float*>(from.data) + at;
        WEFT_UNROLL
        for (int k = 0; k < N; ++k) {
            to[k] = k < count ? data[k] : fallback;
        }
    } else {
        const u16* data = static_cast<const u16*>(from.data) + at;
        WEFT_UNROLL
        for (int k = 0; k < N; ++k) {
            to[k] = k < count ? float_of_half(from.dtype, data[k]) : fallback;
        }
    }
}

template <int N>
WEFT_DEVICE void store_pack(Target to, i64 at, const float (&from)[N]) {
    if (to.dtype == kF32) {
        float* data = static_cast<float*>(to.data) + at;
        u32 words[4];
        WEFT_UNROLL
        for (int part = 0; part < N; part += 4) {
            WEFT_UNROLL
            for (int k = 0; k < 4; ++k) {
                words[k] = bits_of_float(from[part + k]);
            }
            store_vector<16>(data + part, words);
        }
    } else {
        u32 words[N / 2];
        WEFT_UNROLL
        for (int k = 0; k < N / 2; ++k) {
            words[k] = static_cast<u32>(half_of(to.dtype, from[2 * k])) |
                       static_cast<u32>(half_of(to.dtype, from[2 * k + 1])) << 16;
        }
        store_vector<N * 2>(static_cast<u16*>(to.data) + at, words);
    }
}

/// The first `count` of N consecutive elements at any address.
template <int N>
WEFT_DEVICE void store_some(Target to, i64 at, i64 count, const float (&from)[N]) {
    if (to.dtype == kF32) {
        float* data = static_cast<float*>(to.data) + at;
        WEFT_UNROLL
        for (int k = 0; k < N; ++k) {
            if (k < count) {
                data[k] = from[k];
            }
        }
    } else {
        u16* data = static_cast<u16*>(to.data) + at;
        WEFT_UNROLL
        for (int k = 0; k < N; ++k) {
            if (k < count) {
                data[k] = half_of(to.dtype, from[k]);
            }
        }
    }
}

// What all lanes of a warp have: equal in every lane, and added in the same order each time.
WEFT_DEVICE float warp_sum(float value) {
    WEFT_UNROLL
    for (int mask = kWarp / 2; mask > 0; mask /= 2) {
        value += shuffle_xor(value, mask);
    }
    return value;
}

/// The larger; NaN if one is.
WEFT_DEVICE float larger(float a, float b) {
    return a >= b || a != a ? a : b;
}

WEFT_DEVICE float warp_max(float value) {
    WEFT_UNROLL
    for (int mask = kWarp / 2; mask > 0; mask /= 2) {
        value = larger(value, shuffle_xor(value, mask));
    }
    return value;
}

} // namespace weft::kernels::cuda
