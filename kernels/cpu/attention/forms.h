// SPDX-License-Identifier: Apache-2.0
// How the products of attention take their operands (query_block.h is the rest of it): a left
// operand is rows of numbers, a right one has kTogether neighbours along the summed axis in one
// element. All matrices are row-major.
#pragma once

#include "kernels/cpu/tiles/matrix_tiles.h"
#include "kernels/cpu/tiles/pairs.h"
#include "kernels/cpu/vectors/vector_packing.h"
#include "kernels/op.h"

namespace weft::kernels::cpu {

/// bf16, multiplied in pairs (tiles/pairs.h), on AMX where it is there.
struct PairForm {
    using Stored = bf16; // in the operands of the op
    using Left = std::uint16_t;
    using Right = std::uint32_t;
    using Scope = TileScope; // open on a thread that multiplies
    static constexpr std::int64_t kTogether = 2;

    /// Throws UNSUPPORTED where it does not serve heads of width `d`.
    static void require(const Op& op, std::int64_t d);

    /// [rows, columns] as a left operand whose rows are `columns` long.
    static void left(const Rows<bf16>& from, std::int64_t rows, std::int64_t columns, Left* to);
    /// Its transpose [columns, rows], rows `to_row` apart, up to a multiple of 64 wide. `scratch`
    /// holds 16 rows of `columns`, up to a multiple of 16.
    static void left_turned(const Rows<bf16>& from, std::int64_t rows, std::int64_t columns,
                            Right* scratch, Left* to, std::int64_t to_row);
    /// As a right operand that is summed over its rows; rows of elements `to_row` apart.
    static void right(const Rows<bf16>& from, std::int64_t rows, std::int64_t columns, Right* to,
                      std::int64_t to_row);
    /// The transpose as one, summed over the columns.
    static void right_turned(const Rows<bf16>& from, std::int64_t rows, std::int64_t columns,
                             Right* to, std::int64_t to_row);

    /// What is computed, [rows, 64] of which `columns` count, as a left operand; in `memory`, or
    /// where it lies.
    static const Left* left_of(const float* from, std::int64_t rows, std::int64_t columns,
                               Left* memory);
    /// As a right operand that is summed over its rows.
    static const Right* right_of(const float* from, std::int64_t rows, std::int64_t columns,
                                 Right* memory);

    /// out [m, n] (+)= left [m, k] right [k, n]; n is a multiple of 16.
    static void multiply(const Left* left, std::int64_t left_row, const Right* right,
                         std::int64_t right_row, float* out, std::int64_t out_row, std::int64_t m,
                         std::int64_t n, std::int64_t k, bool accumulate);

    /// sums[r] = sum over the columns of x y.
    static void dot_rows(const Rows<bf16>& x, const Rows<bf16>& y, std::int64_t rows,
                         std::int64_t columns, float* sums);
};

/// f32 or bf16, multiplied as floats.
template <class T>
struct FloatForm {
    using Stored = T;
    using Left = float;
    using Right = float;
    struct Scope {};
    static constexpr std::int64_t kTogether = 1;

    static void require(const Op& op, std::int64_t d);
    static void left(const Rows<T>& from, std::int64_t rows, std::int64_t columns, Left* to);
    static void left_turned(const Rows<T>& from, std::int64_t rows, std::int64_t columns,
                            Right* scratch, Left* to, std::int64_t to_row);
    static void right(const Rows<T>& from, std::int64_t rows, std::int64_t columns, Right* to,
                      std::int64_t to_row);
    static void right_turned(const Rows<T>& from, std::int64_t rows, std::int64_t columns,
                             Right* to, std::int64_t to_row);
    static const Left* left_of(const float* from, std::int64_t, std::int64_t, Left*) {
        return from;
    }
    static const Right* right_of(const float* from, std::int64_t, std::int64_t, Right*) {
        return from;
    }
    static void multiply(const Left* left, std::int64_t left_row, const Right* right,
                         std::int64_t right_row, float* out, std::int64_t out_row, std::int64_t m,
                         std::int64_t n, std::int64_t k, bool accumulate);
    static void dot_rows(const Rows<T>& x, const Rows<T>& y, std::int64_t rows,
                         std::int64_t columns, float* sums);
};

/// to[c][r] = from[r][c] factor[c] for c below `columns`, at most 64: a turned block of results.
template <class T>
WEFT_AVX512 void store_turned(const float* from, std::int64_t from_row, const float* factor,
                              std::int64_t rows, std::int64_t columns, T* to, std::int64_t to_row);

} // namespace weft::kernels::cpu
