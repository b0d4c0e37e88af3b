// SPDX-License-Identifier: Apache-2.0
// The dialect's words in CUDA; see dialect.h.
#pragma once

// With as many blocks on a processor as this the compiler has no reason to spill for more of them.
#define WEFT_KERNEL __global__ void __launch_bounds__(256, 4)
#define WEFT_LARGE_KERNEL __global__ void __launch_bounds__(256, 2)
#define WEFT_NARROW_KERNEL __global__ void __launch_bounds__(128, 4)
#define WEFT_WIDE_KERNEL __global__ void __launch_bounds__(1024)
#define WEFT_DEVICE __device__ __forceinline__
#define WEFT_UNROLL _Pragma("unroll")
#define WEFT_ROLLED _Pragma("unroll 1")
#define WEFT_SHARED(Type, name, count) __shared__ Type name[count]

namespace weft::kernels::cuda {

using i64 = long long;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

WEFT_DEVICE int thread() {
    return static_cast<int>(threadIdx.x);
}
WEFT_DEVICE int threads() {
    return static_cast<int>(blockDim.x);
}
WEFT_DEVICE i64 block() {
    return blockIdx.x;
}
WEFT_DEVICE i64 blocks() {
    return gridDim.x;
}
WEFT_DEVICE i64 block_y() {
    return blockIdx.y;
}

WEFT_DEVICE void barrier() {
    __syncthreads();
}
WEFT_DEVICE void warp_barrier() {
    __syncwarp();
}
template <class T>
WEFT_DEVICE T shuffle(T value, int lane) {
    return __shfl_sync(0xffffffffu, value, lane);
}
template <class T>
WEFT_DEVICE T shuffle_xor(T value, int mask) {
    return __shfl_xor_sync(0xffffffffu, value, mask);
}
WEFT_DEVICE u32 ballot(bool flag) {
    return __ballot_sync(0xffffffffu, flag);
}
WEFT_DEVICE void atomic_add(int* array, int i, int number) {
    atomicAdd(array + i, number);
}
WEFT_DEVICE int bits_set(u32 word) {
    return __popc(word);
}

WEFT_DEVICE float float_of_bits(u32 bits) {
    return __uint_as_float(bits);
}
WEFT_DEVICE double double_of_bits(u64 bits) {
    return __longlong_as_double(static_cast<i64>(bits));
}
WEFT_DEVICE u32 bits_of_float(float value) {
    return __float_as_uint(value);
}
WEFT_DEVICE u16 bf16_of(float value) {
    u16 bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
WEFT_DEVICE u16 f16_of(float value) {
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
WEFT_DEVICE float float_of_f16(u16 bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

template <int Bytes>
struct Vector;
template <>
struct Vector<1> {
    using Type = unsigned char;
};
template <>
struct Vector<2> {
    using Type = unsigned short;
};
template <>
struct Vector<4> {
    using Type = unsigned int;
};
template <>
struct Vector<8> {
    using Type = uint2;
};
template <>
struct Vector<16> {
    using Type = uint4;
};

/// `to` has room for Bytes and is in registers.
template <int Bytes, class Word>
WEFT_DEVICE void load_vector(const void* from, Word* to) {
    using Type = typename Vector<Bytes>::Type;
    *reinterpret_cast<Type*>(to) = *static_cast<const Type*>(from);
}
template <int Bytes, class Word>
WEFT_DEVICE void store_vector(void* to, const Word* from) {
    using Type = typename Vector<Bytes>::Type;
    *static_cast<Type*>(to) = *reinterpret_cast<const Type*>(from);
}

/// For the host to read: past the caches of the device.
WEFT_DEVICE void store_for_host(volatile int* to, int value) {
    *to = value;
}

} // namespace weft::kernels::cuda
