// SPDX-License-Identifier: Apache-2.0
// Vector loops over contiguous runs of elements, shared by the CPU kernels. Counts are in elements;
// pointers need only the alignment of their element. Sums run in a fixed order per instruction set.
#pragma once

#include "kernels/numbers.h"
#include "kernels/weft_kernels.h"

#include <cstdint>

namespace weft::kernels::cpu {

/// Reads `count` elements of any stored type but f64 and i64 as float, and back (f32, bf16 and f16
/// only).
using LoadRun = void (*)(const void* from, float* to, std::int64_t count);
using StoreRun = void (*)(const float* from, void* to, std::int64_t count);
LoadRun load_run(std::int32_t dtype);   // null where there is none
StoreRun store_run(std::int32_t dtype); // null where there is none

void load_bf16(const bf16* from, float* to, std::int64_t count);
void store_bf16(const float* from, bf16* to, std::int64_t count);
void load_f16(const f16* from, float* to, std::int64_t count);
void store_f16(const float* from, f16* to, std::int64_t count);
/// To bf16 or f16 and back; null where there is nothing to round.
using RoundRun = void (*)(float* values, std::int64_t count);
RoundRun round_run(std::int32_t dtype);
void fill_run(float* to, float value, std::int64_t count);
void add_run(float* to, const float* from, std::int64_t count); // to += from
void axpy_run(float* to, float factor, const float* from, std::int64_t count);
void scale_run(float* values, float factor, std::int64_t count);
float sum_run(const float* values, std::int64_t count);
float sum_run(const bf16* values, std::int64_t count);
float dot_run(const float* a, const float* b, std::int64_t count);
float max_run(const float* values, std::int64_t count); // -infinity when empty; NaN propagates
float max_run(const bf16* values, std::int64_t count);

/// The run as floats: the run itself when it is f32, else converted into `scratch`.
inline const float* as_floats(const void* from, std::int32_t dtype, float* scratch,
                              std::int64_t count) {
    if (dtype == WEFT_F32) {
        return static_cast<const float*>(from);
    }
    load_bf16(static_cast<const bf16*>(from), scratch, count);
    return scratch;
}

/// Address of element `index` in a buffer of f32 or bf16.
inline const void* element(const void* base, std::int32_t dtype, std::int64_t index) {
    return static_cast<const unsigned char*>(base) + index * (dtype == WEFT_F32 ? 4 : 2);
}
inline void* element(void* base, std::int32_t dtype, std::int64_t index) {
    return static_cast<unsigned char*>(base) + index * (dtype == WEFT_F32 ? 4 : 2);
}

inline bool is_float(std::int32_t dtype) {
    return dtype == WEFT_F32 || dtype == WEFT_BF16;
}

} // namespace weft::kernels::cpu
