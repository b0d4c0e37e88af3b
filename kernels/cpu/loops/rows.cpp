// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/loops/rows.h"

#include "kernels/cpu/loops/simd.h"

#include <cstring>
#include <limits>

namespace weft::kernels::cpu {
namespace {

template <class Integer>
WEFT_VECTOR void load_integers(const void* from, float* to, std::int64_t count) {
    const auto* source = static_cast<const Integer*>(from);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = static_cast<float>(source[i]);
    }
}

void load_f32_run(const void* from, float* to, std::int64_t count) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * 4);
}
void load_bf16_run(const void* from, float* to, std::int64_t count) {
    load_bf16(static_cast<const bf16*>(from), to, count);
}
void store_f32_run(const float* from, void* to, std::int64_t count) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * 4);
}
void store_bf16_run(const float* from, void* to, std::int64_t count) {
    store_bf16(from, static_cast<bf16*>(to), count);
}
void load_f16_run(const void* from, float* to, std::int64_t count) {
    load_f16(static_cast<const f16*>(from), to, count);
}
void store_f16_run(const float* from, void* to, std::int64_t count) {
    store_f16(from, static_cast<f16*>(to), count);
}

WEFT_INLINE std::uint32_t rounded_bits(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    return (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : rounded;
}

WEFT_VECTOR void round_bf16(float* values, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        values[i] = std::bit_cast<float>(rounded_bits(values[i]) & 0xffff0000u);
    }
}

WEFT_VECTOR void round_f16(float* values, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        values[i] = round_to_f16(values[i]);
    }
}

template <class T>
WEFT_INLINE float sum_of(const T* values, std::int64_t count) {
    return blocked_sum(count,
                       [=](std::int64_t i) WEFT_INLINE_LAMBDA { return to_float(values[i]); });
}

template <class T>
WEFT_INLINE float max_of(const T* values, std::int64_t count) {
    float max = -std::numeric_limits<float>::infinity();
    std::int32_t nans = 0;
#pragma omp simd reduction(max : max) reduction(+ : nans)
    for (std::int64_t i = 0; i < count; ++i) {
        const float value = to_float(values[i]);
        max = value > max ? value : max;
        nans += value != value ? 1 : 0;
    }
    return nans > 0 ? std::numeric_limits<float>::quiet_NaN() : max;
}

} // namespace

LoadRun load_run(std::int32_t dtype) {
    switch (dtype) {
    case WEFT_F32: return load_f32_run;
    case WEFT_BF16: return load_bf16_run;
    case WEFT_F16: return load_f16_run;
    case WEFT_I32: return load_integers<std::int32_t>;
    case WEFT_U8: return load_integers<std::uint8_t>;
    default: return nullptr;
    }
}

StoreRun store_run(std::int32_t dtype) {
    switch (dtype) {
    case WEFT_F32: return store_f32_run;
    case WEFT_BF16: return store_bf16_run;
    case WEFT_F16: return store_f16_run;
    default: return nullptr;
    }
}

RoundRun round_run(std::int32_t dtype) {
    return dtype == WEFT_BF16 ? round_bf16 : dtype == WEFT_F16 ? round_f16 : nullptr;
}

WEFT_VECTOR void load_bf16(const bf16* from, float* to, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(from[i].bits) << 16);
    }
}

WEFT_VECTOR void store_bf16(const float* from, bf16* to, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        to[i].bits = static_cast<std::uint16_t>(rounded_bits(from[i]) >> 16);
    }
}

WEFT_VECTOR void load_f16(const f16* from, float* to, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = to_float(from[i]);
    }
}

WEFT_VECTOR void store_f16(const float* from, f16* to, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = to_f16(from[i]);
    }
}

WEFT_VECTOR void fill_run(float* to, float value, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = value;
    }
}

WEFT_VECTOR void add_run(float* to, const float* from, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] += from[i];
    }
}

WEFT_VECTOR void axpy_run(float* to, float factor, const float* from, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] += factor * from[i];
    }
}

WEFT_VECTOR void scale_run(float* values, float factor, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        values[i] *= factor;
    }
}

WEFT_VECTOR float sum_run(const float* values, std::int64_t count) {
    return sum_of(values, count);
}
WEFT_VECTOR float sum_run(const bf16* values, std::int64_t count) {
    return sum_of(values, count);
}

WEFT_VECTOR float dot_run(const float* a, const float* b, std::int64_t count) {
    return blocked_sum(count, [=](std::int64_t i) WEFT_INLINE_LAMBDA { return a[i] * b[i]; });
}

WEFT_VECTOR float max_run(const float* values, std::int64_t count) {
    return max_of(values, count);
}
WEFT_VECTOR float max_run(const bf16* values, std::int64_t count) {
    return max_of(values, count);
}

} // namespace weft::kernels::cpu
