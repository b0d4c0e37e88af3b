// SPDX-License-Identifier: Apache-2.0
// A block of a matrix product of floats, summed in registers of AVX-512.
#pragma once

#include <cstdint>

namespace weft::kernels::cpu {

inline constexpr std::int64_t kBlockRows = 14; // with two vectors of columns 28 sums in registers
inline constexpr std::int64_t kVector = 16;    // floats
inline constexpr std::int64_t kBlockColumns = 2 * kVector;
inline constexpr std::int64_t kMostDepth = 512; // of the summed axis, that a block walks at once
/// Floats between the rows of a packed left operand; not a power of two, or all rows would meet in
/// the same lines of the first cache.
inline constexpr std::int64_t kLeftRow = kMostDepth + 16;
/// Floats between the steps of a packed left operand that is turned: a block's rows, side by side.
inline constexpr std::int64_t kTurnedRow = kVector;
/// Rows of a left operand that are packed at a time.
inline constexpr std::int64_t kMostPackedRows = 4 * kBlockRows;

/// sums [rows, columns] (+)= left [rows, depth] right [depth, columns], rows up to kBlockRows, one
/// or two vectors of columns; the rows of `sums` lie `sums_row` floats apart.
struct VectorBlock {
    const float* left;  // row by row, or turned: step by step
    const float* right; // step by step, as many floats as there are columns
    float* sums;
    std::int64_t sums_row, rows, vectors, depth;
    bool turned, resume;
};

/// Only where machine_has_avx512().
void multiply_block(const VectorBlock& block);

/// Row-major floats; rows lie `row` apart.
struct FloatRows {
    const float* data;
    std::int64_t row;
};

/// out [m, n] (+)= left [m, k] right [k, n] for operands as they lie, in the first caches; n is a
/// multiple of 16. Overwrites when `accumulate` is false. Only where machine_has_avx512().
void multiply_floats(const FloatRows& left, const FloatRows& right, float* out,
                     std::int64_t out_row, std::int64_t m, std::int64_t n, std::int64_t k,
                     bool accumulate);

} // namespace weft::kernels::cpu
