// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/attention/forms.h"
#include "kernels/cpu/attention/query_block.h"
#include "kernels/cpu/tiles/avx512_bf16.h"

#include <cstring>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kB = kQueryBlock;

Rows16 bits_of(const Rows<bf16>& rows) {
    return {reinterpret_cast<const std::uint16_t*>(rows.data), rows.row};
}

WEFT_AVX512_BF16 void round_rows(const float* from, std::int64_t rows, std::int64_t columns,
                                 std::uint16_t* to) {
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < columns; c += 16) {
            const __m512 x = _mm512_loadu_ps(from + r * kB + c);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + r * kB + c),
                                reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
        }
    }
}

WEFT_AVX512_BF16 void round_pairs(const float* from, std::int64_t rows, std::int64_t columns,
                                  std::uint32_t* to) {
    for (std::int64_t r = 0; r < rows; r += 2) {
        for (std::int64_t c = 0; c < columns; c += 16) {
            const __m512 low = _mm512_loadu_ps(from + r * kB + c);
            const __m512 high =
                r + 1 < rows ? _mm512_loadu_ps(from + (r + 1) * kB + c) : _mm512_setzero_ps();
            _mm512_storeu_si512(to + r / 2 * kB + c, pair_of(low, high));
        }
    }
}

WEFT_AVX512_BF16 void dot_pairs(const Rows16& x, const Rows16& y, std::int64_t rows, std::int64_t d,
                                float* sums) {
    for (std::int64_t r = 0; r < rows; ++r) {
        __m512 sum = _mm512_setzero_ps();
        for (std::int64_t i = 0; i < d; i += 32) {
            const auto there = static_cast<__mmask32>(
                lanes(d - i) | static_cast<std::uint32_t>(lanes(d - i - 16)) << 16);
            sum = _mm512_dpbf16_ps(
                sum,
                reinterpret_cast<__m512bh>(_mm512_maskz_loadu_epi16(there, x.data + r * x.row + i)),
                reinterpret_cast<__m512bh>(
                    _mm512_maskz_loadu_epi16(there, y.data + r * y.row + i)));
        }
        sums[r] = _mm512_reduce_add_ps(sum);
    }
}

} // namespace

void PairForm::require(const Op& op, std::int64_t d) {
    if (!machine_has_pairs() || op.input(0).dtype != WEFT_BF16) {
        unsupported("pairs are bf16 and need AVX-512 BF16");
    }
    if (d % 2 != 0) {
        unsupported("an odd head width has no pairs");
    }
}

void PairForm::left(const Rows<bf16>& from, std::int64_t rows, std::int64_t columns, Left* to) {
    for (std::int64_t r = 0; r < rows; ++r) {
        std::memcpy(to + r * columns, from.data + r * from.row,
                    static_cast<std::size_t>(2 * columns));
    }
}

void PairForm::left_turned(const Rows<bf16>& from, std::int64_t rows, std::int64_t columns,
                           Right* scratch, Left* to, std::int64_t to_row) {
    turn_rows(bits_of(from), rows, columns, scratch, to, to_row);
}

void PairForm::right(const Rows<bf16>& from, std::int64_t rows, std::int64_t columns, Right* to,
                     std::int64_t to_row) {
    pair_rows(bits_of(from), rows, columns, to, to_row);
}

void PairForm::right_turned(const Rows<bf16>& from, std::int64_t rows, std::int64_t columns,
                            Right* to, std::int64_t to_row) {
    turn_pairs(bits_of(from), rows, columns / 2, to, to_row);
}

const PairForm::Left* PairForm::left_of(const float* from, std::int64_t rows, std::int64_t columns,
                                        Left* memory) {
    round_rows(from, rows, columns, memory);
    return memory;
}

const PairForm::Right* PairForm::right_of(const float* from, std::int64_t rows,
                                          std::int64_t columns, Right* memory) {
    round_pairs(from, rows, columns, memory);
    return memory;
}

void PairForm::multiply(const Left* left, std::int64_t left_row, const Right* right,
                        std::int64_t right_row, float* out, std::int64_t out_row, std::int64_t m,
                        std::int64_t n, std::int64_t k, bool accumulate) {
    multiply_pairs({left, left_row}, {right, right_row}, out, out_row, m, n, (k + 1) / 2,
                   accumulate);
}

void PairForm::dot_rows(const Rows<bf16>& x, const Rows<bf16>& y, std::int64_t rows,
                        std::int64_t columns, float* sums) {
    dot_pairs(bits_of(x), bits_of(y), rows, columns, sums);
}

} // namespace weft::kernels::cpu
