// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/vectors/vector_packing.h"

#include "kernels/cpu/vectors/vector_block.h"

#include <algorithm>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kAhead = 16; // rows of memory; no stream that the processor would see

/// Asks for memory that is read soon; any address will do.
WEFT_AVX512 WEFT_INLINE void fetch(const void* address) {
    _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0);
}

/// 16 rows from `from` on, of which there are `rows`, and 16 of their numbers, of which there are
/// `columns`, turned: to[column][row], `to_row` apart.
template <class T>
WEFT_AVX512 WEFT_INLINE void turn_block(const Rows<T>& from, std::int64_t rows,
                                        std::int64_t columns, float* to, std::int64_t to_row) {
    __m512i block[16];
#pragma GCC unroll 16
    for (std::int64_t r = 0; r < 16; ++r) {
        block[r] = r < rows
                       ? _mm512_castps_si512(load_512(from.data + r * from.row, lanes(columns)))
                       : _mm512_setzero_si512();
    }
    turn_16(block);
    for (std::int64_t c = 0; c < std::min<std::int64_t>(columns, 16); ++c) {
        _mm512_storeu_si512(to + c * to_row, block[c]);
    }
}

} // namespace

template <class T>
WEFT_AVX512 void pack_left(const Rows<T>& from, std::int64_t rows, std::int64_t depth, float* to) {
    for (std::int64_t r = 0; r < rows; ++r) {
        widen_run(from.data + r * from.row, depth, to + r * kLeftRow);
    }
}

template <class T>
WEFT_AVX512 void pack_left_turned(const Rows<T>& from, std::int64_t rows, std::int64_t depth,
                                  float* to) {
    for (std::int64_t d = 0; d < depth; ++d) {
        const T* row = from.data + d * from.row;
        fetch(row + kAhead * from.row);
        fetch(row + kAhead * from.row + rows - 1);
        float* out = to + d * kTurnedRow;
        for (std::int64_t r = 0; r < rows; r += kBlockRows) {
            const std::int64_t there = std::min(rows - r, kBlockRows);
            _mm512_storeu_ps(out, load_512(row + r, lanes(there)));
            out += depth * kTurnedRow;
        }
    }
}

template <class T>
WEFT_AVX512 void pack_right(const Rows<T>& from, std::int64_t columns, const Steps& steps,
                            float* to) {
    // Along the rows of memory, though that jumps from panel to panel.
    for (std::int64_t d = 0; d < steps.count; ++d) {
        const T* row = from.data + d * from.row;
        float* out = to + (steps.first + d) * kBlockColumns;
        std::int64_t c = 0;
        for (; columns - c >= kBlockColumns; c += kBlockColumns) {
            fetch(row + c + kAhead * from.row);
            _mm512_storeu_ps(out, load_512(row + c, lanes(kVector)));
            _mm512_storeu_ps(out + kVector, load_512(row + c + kVector, lanes(kVector)));
            out += steps.of * kBlockColumns;
        }
        if (columns - c > kVector) {
            _mm512_storeu_ps(out, load_512(row + c, lanes(kVector)));
            _mm512_storeu_ps(out + kVector,
                             load_512(row + c + kVector, lanes(columns - c - kVector)));
        } else if (columns > c) {
            float* last = to + c * steps.of + (steps.first + d) * kVector;
            _mm512_storeu_ps(last, load_512(row + c, lanes(columns - c)));
        }
    }
}

template <class T>
WEFT_AVX512 void pack_right_turned(const Rows<T>& from, std::int64_t columns, const Steps& steps,
                                   float* to) {
    for (std::int64_t c = 0; c < columns; c += kBlockColumns) {
        const std::int64_t there = columns - c;
        const std::int64_t width = there > kVector ? kBlockColumns : kVector;
        float* out = to + steps.first * width;
        for (std::int64_t v = 0; v < width; v += kVector) {
            for (std::int64_t d = 0; d < steps.count; d += kVector) {
                turn_block(Rows<T>{from.data + (c + v) * from.row + d, from.row}, there - v,
                           steps.count - d, out + d * width + v, width);
            }
        }
        to += steps.of * width;
    }
}

template <class T>
WEFT_AVX512 void turn(const Rows<T>& from, std::int64_t rows, std::int64_t columns, float* to,
                      std::int64_t to_row) {
    for (std::int64_t r = 0; r < rows; r += kVector) {
        for (std::int64_t c = 0; c < columns; c += kVector) {
            turn_block(Rows<T>{from.data + r * from.row + c, from.row}, rows - r, columns - c,
                       to + c * to_row + r, to_row);
        }
    }
}

template WEFT_AVX512 void turn(const Rows<float>&, std::int64_t, std::int64_t, float*,
                               std::int64_t);
template WEFT_AVX512 void turn(const Rows<bf16>&, std::int64_t, std::int64_t, float*, std::int64_t);
template WEFT_AVX512 void pack_left(const Rows<float>&, std::int64_t, std::int64_t, float*);
template WEFT_AVX512 void pack_left(const Rows<bf16>&, std::int64_t, std::int64_t, float*);
template WEFT_AVX512 void pack_left_turned(const Rows<float>&, std::int64_t, std::int64_t, float*);
template WEFT_AVX512 void pack_left_turned(const Rows<bf16>&, std::int64_t, std::int64_t, float*);
template WEFT_AVX512 void pack_right(const Rows<float>&, std::int64_t, const Steps&, float*);
template WEFT_AVX512 void pack_right(const Rows<bf16>&, std::int64_t, const Steps&, float*);
template WEFT_AVX512 void pack_right_turned(const Rows<float>&, std::int64_t, const Steps&, float*);
template WEFT_AVX512 void pack_right_turned(const Rows<bf16>&, std::int64_t, const Steps&, float*);

} // namespace weft::kernels::cpu
