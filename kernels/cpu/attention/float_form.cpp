// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/attention/forms.h"
#include "kernels/cpu/vectors/vector_block.h"
#include "kernels/cpu/vectors/vector_product.h"

#include <algorithm>
#include <type_traits>

namespace weft::kernels::cpu {
namespace {

template <class T>
WEFT_AVX512 void dot_runs(const Rows<T>& x, const Rows<T>& y, std::int64_t rows,
                          std::int64_t columns, float* sums) {
    for (std::int64_t r = 0; r < rows; ++r) {
        __m512 sum = _mm512_setzero_ps();
        for (std::int64_t i = 0; i < columns; i += 16) {
            const __mmask16 there = lanes(columns - i);
            sum = _mm512_fmadd_ps(load_512(x.data + r * x.row + i, there),
                                  load_512(y.data + r * y.row + i, there), sum);
        }
        sums[r] = _mm512_reduce_add_ps(sum);
    }
}

template <class T>
WEFT_AVX512 void widen_rows(const Rows<T>& from, std::int64_t rows, std::int64_t columns, float* to,
                            std::int64_t to_row) {
    for (std::int64_t r = 0; r < rows; ++r) {
        widen_run(from.data + r * from.row, columns, to + r * to_row);
    }
}

} // namespace

template <class T>
void FloatForm<T>::require(const Op& op, std::int64_t) {
    if (!machine_has_avx512()) {
        unsupported("no AVX-512 on this machine");
    }
    if ((op.input(0).dtype == WEFT_F32) != std::is_same_v<T, float>) {
        unsupported("operands of another type");
    }
    if (op.input(0).dtype == WEFT_BF16) {
        require_vectors_win(op);
    }
}

template <class T>
void FloatForm<T>::left(const Rows<T>& from, std::int64_t rows, std::int64_t columns, Left* to) {
    // Rows in order: what a vector writes behind one is written over by the next.
    widen_rows(from, rows, columns, to, columns);
}

template <class T>
void FloatForm<T>::left_turned(const Rows<T>& from, std::int64_t rows, std::int64_t columns, Right*,
                               Left* to, std::int64_t to_row) {
    turn(from, rows, columns, to, to_row);
}

template <class T>
void FloatForm<T>::right(const Rows<T>& from, std::int64_t rows, std::int64_t columns, Right* to,
                         std::int64_t to_row) {
    widen_rows(from, rows, columns, to, to_row);
}

template <class T>
void FloatForm<T>::right_turned(const Rows<T>& from, std::int64_t rows, std::int64_t columns,
                                Right* to, std::int64_t to_row) {
    turn(from, rows, columns, to, to_row);
}

template <class T>
void FloatForm<T>::multiply(const Left* left, std::int64_t left_row, const Right* right,
                            std::int64_t right_row, float* out, std::int64_t out_row,
                            std::int64_t m, std::int64_t n, std::int64_t k, bool accumulate) {
    multiply_floats({left, left_row}, {right, right_row}, out, out_row, m, n, k, accumulate);
}

template <class T>
void FloatForm<T>::dot_rows(const Rows<T>& x, const Rows<T>& y, std::int64_t rows,
                            std::int64_t columns, float* sums) {
    dot_runs(x, y, rows, columns, sums);
}

template <class T>
WEFT_AVX512 void store_turned(const float* from, std::int64_t from_row, const float* factor,
                              std::int64_t rows, std::int64_t columns, T* to, std::int64_t to_row) {
    for (std::int64_t c = 0; c < columns; c += 16) {
        const __m512 scale = _mm512_loadu_ps(factor + c);
        const std::int64_t there = std::min<std::int64_t>(16, columns - c);
        for (std::int64_t r = 0; r < rows; r += 16) {
            const std::int64_t wide = std::min<std::int64_t>(16, rows - r);
            __m512i block[16];
#pragma GCC unroll 16
            for (int i = 0; i < 16; ++i) {
                block[i] = i < wide ? _mm512_castps_si512(_mm512_mul_ps(
                                          _mm512_loadu_ps(from + (r + i) * from_row + c), scale))
                                    : _mm512_setzero_si512();
            }
            turn_16(block);
            for (std::int64_t i = 0; i < there; ++i) {
                store_512(to + (c + i) * to_row + r, lanes(wide), _mm512_castsi512_ps(block[i]));
            }
        }
    }
}

template struct FloatForm<float>;
template struct FloatForm<bf16>;
template WEFT_AVX512 void store_turned(const float*, std::int64_t, const float*, std::int64_t,
                                       std::int64_t, float*, std::int64_t);
template WEFT_AVX512 void store_turned(const float*, std::int64_t, const float*, std::int64_t,
                                       std::int64_t, bf16*, std::int64_t);

} // namespace weft::kernels::cpu
