// SPDX-License-Identifier: Apache-2.0
// The dialect's words for the host compiler; see dialect.h. tests/kernels/emulation defines what is
// only declared here. What a GPU would do silently ends the launch with a text: an index outside a
// shared array, a vector access that is not aligned, a barrier or shuffle that not all threads
// reach, and two threads at the same shared element without a barrier between them.
#pragma once

#include "kernels/numbers.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#define WEFT_KERNEL void
#define WEFT_LARGE_KERNEL void
#define WEFT_NARROW_KERNEL void
#define WEFT_WIDE_KERNEL void
#define WEFT_DEVICE inline
#define WEFT_UNROLL
#define WEFT_ROLLED
#define WEFT_SHARED(Type, name, count)                                                             \
    static const char name##_key = 0;                                                              \
    const SharedArray<Type, count> name(&name##_key)

namespace weft::kernels::cuda {

using i64 = long long;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

namespace emulation {

struct Place {
    int thread, threads;
    i64 block, blocks, block_y;
};
/// Of the thread that runs.
const Place& place();

void block_barrier();
void warp_barrier();
/// What `lane` of the warp handed in; all 32 call it together.
u64 exchange(u64 mine, int lane);
u32 vote(bool flag);

/// Ends the launch.
[[noreturn]] void fault(const char* text);

struct SharedState;
struct Shared {
    unsigned char* data;
    SharedState* state;
};
/// The array of the block that `key` stands for; its bytes are 0xff at first.
Shared shared_array(const void* key, std::size_t element_bytes, int count);
enum class Access { read, write, atomic };
/// Notes that the thread touches an element of that array.
void touch(SharedState* state, int element, Access access);

inline void require_aligned(const void* address, int bytes) {
    if (reinterpret_cast<std::uintptr_t>(address) % static_cast<unsigned>(bytes) != 0) {
        fault("a vector access is not aligned");
    }
}

} // namespace emulation

/// An element of a shared array.
template <class T>
class SharedCell {
public:
    SharedCell(emulation::SharedState* state, T* data, int element)
        : state_(state), data_(data), element_(element) {}
    operator T() const {
        emulation::touch(state_, element_, emulation::Access::read);
        return *data_;
    }
    const SharedCell& operator=(T value) const {
        emulation::touch(state_, element_, emulation::Access::write);
        *data_ = value;
        return *this;
    }
    const SharedCell& operator=(const SharedCell& other) const {
        return *this = static_cast<T>(other);
    }
    const SharedCell& operator+=(T value) const { return *this = static_cast<T>(*this) + value; }

private:
    emulation::SharedState* state_;
    T* data_;
    int element_;
};

template <class T, int Count>
class SharedArray {
public:
    explicit SharedArray(const void* key)
        : shared_(emulation::shared_array(key, sizeof(T), Count)) {}
    SharedCell<T> operator[](i64 i) const {
        if (i < 0 || i >= Count) {
            emulation::fault("an index is outside a shared array");
        }
        return {shared_.state, data() + i, static_cast<int>(i)};
    }
    void add(int i, T number) const {
        if (i < 0 || i >= Count) {
            emulation::fault("an index is outside a shared array");
        }
        emulation::touch(shared_.state, i, emulation::Access::atomic);
        data()[i] += number;
    }

private:
    T* data() const { return reinterpret_cast<T*>(shared_.data); }

    emulation::Shared shared_;
};

inline int thread() {
    return emulation::place().thread;
}
inline int threads() {
    return emulation::place().threads;
}
inline i64 block() {
    return emulation::place().block;
}
inline i64 blocks() {
    return emulation::place().blocks;
}
inline i64 block_y() {
    return emulation::place().block_y;
}

inline void barrier() {
    emulation::block_barrier();
}
inline void warp_barrier() {
    emulation::warp_barrier();
}
template <class T>
T shuffle(T value, int lane) {
    u64 word = 0;
    std::memcpy(&word, &value, sizeof value);
    word = emulation::exchange(word, lane & 31);
    std::memcpy(&value, &word, sizeof value);
    return value;
}
template <class T>
T shuffle_xor(T value, int mask) {
    return shuffle(value, thread() % 32 ^ mask);
}
inline u32 ballot(bool flag) {
    return emulation::vote(flag);
}
template <int Count>
void atomic_add(const SharedArray<int, Count>& array, int i, int number) {
    array.add(i, number);
}
inline int bits_set(u32 word) {
    return std::popcount(word);
}

inline float float_of_bits(u32 bits) {
    return std::bit_cast<float>(bits);
}
inline double double_of_bits(u64 bits) {
    return std::bit_cast<double>(bits);
}
inline u32 bits_of_float(float value) {
    return std::bit_cast<u32>(value);
}
/// To nearest even; every NaN becomes the one that the GPU's instruction gives.
inline u16 bf16_of(float value) {
    const u32 bits = bits_of_float(value);
    return value != value ? u16{0x7fff}
                          : static_cast<u16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
inline u16 f16_of(float value) {
    return value != value ? u16{0x7fff} : to_f16(value).bits;
}
inline float float_of_f16(u16 bits) {
    return to_float(f16{bits});
}

template <int Bytes, class Word>
void load_vector(const void* from, Word* to) {
    emulation::require_aligned(from, Bytes);
    std::memcpy(to, from, Bytes);
}
template <int Bytes, class Word>
void store_vector(void* to, const Word* from) {
    emulation::require_aligned(to, Bytes);
    std::memcpy(to, from, Bytes);
}

inline void store_for_host(volatile int* to, int value) {
    *to = value;
}

} // namespace weft::kernels::cuda
