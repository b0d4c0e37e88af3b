// SPDX-License-Identifier: Apache-2.0
// Operands of a product of floats in the order in which blocks read them (vector_block.h), widened
// where they are bf16. What is missing in a panel of columns is zero. Only where
// machine_has_avx512().
#pragma once

#include "kernels/cpu/vectors/avx512.h"

#include <cstdint>

namespace weft::kernels::cpu {

/// A row-major matrix of f32 or bf16; rows lie `row` elements apart.
template <class T>
struct Rows {
    const T* data;
    std::int64_t row;

    /// From an element on.
    Rows part(std::int64_t at_row, std::int64_t at_column) const {
        return {data + at_row * row + at_column, row};
    }
};

/// `rows` rows of `depth` numbers as a left operand: rows lie kLeftRow apart.
template <class T>
WEFT_AVX512 void pack_left(const Rows<T>& from, std::int64_t rows, std::int64_t depth, float* to);
/// The same of the transpose, block by block of kBlockRows: `from` has `depth` rows; `rows` of its
/// columns. Blocks lie kTurnedRow `depth` apart.
template <class T>
WEFT_AVX512 void pack_left_turned(const Rows<T>& from, std::int64_t rows, std::int64_t depth,
                                  float* to);
/// Steps of a packed right operand: which of them are written, of how many.
struct Steps {
    std::int64_t first, count, of;
};

/// Rows of `columns` numbers as steps of a right operand: panel after panel of kBlockColumns, the
/// last of one vector where that is enough.
template <class T>
WEFT_AVX512 void pack_right(const Rows<T>& from, std::int64_t columns, const Steps& steps,
                            float* to);
/// The same of the transpose: `from` has `columns` rows.
template <class T>
WEFT_AVX512 void pack_right_turned(const Rows<T>& from, std::int64_t columns, const Steps& steps,
                                   float* to);

/// to[c][r] = from[r][c], rows `to_row` apart; zeros behind a row up to a whole vector.
template <class T>
WEFT_AVX512 void turn(const Rows<T>& from, std::int64_t rows, std::int64_t columns, float* to,
                      std::int64_t to_row);

/// `count` numbers as floats, and zeros up to a whole vector behind them.
template <class T>
WEFT_AVX512 WEFT_INLINE void widen_run(const T* from, std::int64_t count, float* to) {
    for (std::int64_t i = 0; i < count; i += 16) {
        _mm512_storeu_ps(to + i, load_512(from + i, lanes(count - i)));
    }
}

} // namespace weft::kernels::cpu
