// SPDX-License-Identifier: Apache-2.0
// How a thread walks its part of a product: columns whose right operand, packed, stays in the
// second cache; under them some blocks of rows, packed; then block after block of 14 by 32 sums in
// registers.
#include "kernels/cpu/vectors/vector_product.h"

#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/pieces.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/tiles/matrix_tiles.h"
#include "kernels/cpu/tiles/pairs.h"
#include "kernels/cpu/vectors/avx512.h"
#include "kernels/cpu/vectors/vector_block.h"

#include <algorithm>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kRightFloats = 1 << 17; // packed columns in the second cache
constexpr std::int64_t kSumFloats = 1 << 17;   // sums that wait there for more steps
constexpr std::int64_t kPackedBlocks = kMostPackedRows / kBlockRows;
constexpr double kAlone = 1 << 20; // FLOP below which one thread is enough

/// How the work is cut; in blocks of rows and columns. The order of a sum hangs on the depth alone.
struct ProductCut : PartGrid {
    std::int64_t depth;                     // of what is packed at a time
    std::int64_t chunk_rows, chunk_columns; // of a part, that go together
    bool deep;                              // sums wait

    explicit ProductCut(const VectorProduct& p) : PartGrid(share(p)) {
        depth = equal_size(p.k, kMostDepth);
        deep = depth < p.k;
        chunk_columns = equal_size(
            part_columns, std::max<std::int64_t>(1, kRightFloats / (depth * kBlockColumns)));
        chunk_rows =
            deep ? equal_size(part_rows, kSumFloats / (kBlockRows * kBlockColumns * chunk_columns))
                 : part_rows;
    }

    std::int64_t left_floats() const {
        return kPackedBlocks * std::max(kBlockRows * kLeftRow, depth * kTurnedRow);
    }
    std::int64_t right_floats() const { return chunk_columns * kBlockColumns * depth; }
    std::int64_t sums_row() const { return kBlockColumns * (deep ? chunk_columns : 1); }
    std::int64_t sum_floats() const { return (deep ? chunk_rows : 1) * kBlockRows * sums_row(); }
    std::int64_t part_bytes() const {
        return round_up_to_line((left_floats() + right_floats() + sum_floats()) * 4);
    }

private:
    /// What two threads pack is packed twice.
    static PartGrid share(const VectorProduct& p) {
        constexpr double kPacked = 8; // a row or column of a block beside a step of its product
        const double flops =
            2 * static_cast<double>(p.m) * static_cast<double>(p.k) * static_cast<double>(p.n);
        return cheapest_grid(pieces(p.m, kBlockRows), pieces(p.n, kBlockColumns),
                             flops < kAlone ? 1 : p.threads, [](double rows, double columns) {
                                 return rows * columns * kBlockRows + (rows + columns) * kPacked;
                             });
    }
};

/// A block of finished sums on its way out.
struct FinishedBlock {
    const float* sums;
    std::int64_t sums_row;
    const float* bias; // of its columns
    std::int64_t at;   // of its first element in the results
    std::int64_t row;  // elements between rows of the results
    std::int64_t rows, columns;
};

template <VectorProduct::Last kLast, class T>
WEFT_AVX512 void write_block(const FinishedBlock& block, const VectorProduct::Results& results) {
    using Last = VectorProduct::Last;
    for (std::int64_t c = 0; c < block.columns; c += kVector) {
        const __mmask16 there = lanes(block.columns - c);
        const __m512 bias = block.bias == nullptr ? _mm512_setzero_ps()
                                                  : _mm512_maskz_loadu_ps(there, block.bias + c);
        for (std::int64_t r = 0; r < block.rows; ++r) {
            __m512 x = _mm512_add_ps(_mm512_loadu_ps(block.sums + r * block.sums_row + c), bias);
            const std::int64_t at = block.at + r * block.row + c;
            if constexpr (kLast == Last::sum) {
                x = _mm512_add_ps(x, load_512(static_cast<const T*>(results.before) + at, there));
            } else if constexpr (kLast == Last::gelu) {
                T* beside = static_cast<T*>(results.beside) + at;
                store_512(beside, there, x);
                x = load_512(beside, there); // as it is stored
                x = _mm512_mul_ps(x, gelu_share_512(x));
            } else if constexpr (kLast == Last::gelu_grad) {
                const T* before = static_cast<const T*>(results.before) + at;
                x = _mm512_mul_ps(x, gelu_slope_512(load_512(before, there)));
            }
            store_512(static_cast<T*>(results.out) + at, there, x);
        }
    }
}

using Write = void (*)(const FinishedBlock&, const VectorProduct::Results&);

template <class T>
Write writer(VectorProduct::Last last) {
    using Last = VectorProduct::Last;
    switch (last) {
    case Last::sum: return &write_block<Last::sum, T>;
    case Last::gelu: return &write_block<Last::gelu, T>;
    case Last::gelu_grad: return &write_block<Last::gelu_grad, T>;
    default: return &write_block<Last::nothing, T>;
    }
}

/// What one thread does: its part of the results.
class ProductPart {
public:
    ProductPart(const VectorProduct& p, const ProductCut& cut, const ProductOperands& operands,
                const VectorProduct::Results& results, void* workspace, std::int64_t index)
        : p_(p), cut_(cut), operands_(operands), results_(results),
          write_(p.brief_out ? writer<bf16>(p.last) : writer<float>(p.last)) {
        left_ = reinterpret_cast<float*>(static_cast<char*>(workspace) + index * cut.part_bytes());
        right_ = left_ + cut.left_floats();
        sums_ = right_ + cut.right_floats();
        rows_.begin = index / cut.column_parts * cut.part_rows;
        rows_.end = std::min(pieces(p.m, kBlockRows), rows_.begin + cut.part_rows);
        columns_.begin = index % cut.column_parts * cut.part_columns;
        columns_.end = std::min(pieces(p.n, kBlockColumns), columns_.begin + cut.part_columns);
    }

    void run() {
        for_pieces(rows_, cut_.chunk_rows, [&](const Range& rows) {
            for_pieces(columns_, cut_.chunk_columns, [&](const Range& columns) {
                for_pieces({0, p_.k}, cut_.depth, [&](const Range& steps) {
                    const std::int64_t first = columns.begin * kBlockColumns;
                    operands_.right(first, std::min(p_.n, columns.end * kBlockColumns) - first,
                                    steps.begin, steps.count(), right_);
                    for_pieces(rows, kPackedBlocks, [&](const Range& some) {
                        multiply(some, rows.begin, columns, steps);
                    });
                });
            });
        });
    }

private:
    /// Some rows by columns that are packed.
    void multiply(const Range& rows, std::int64_t first_of_chunk, const Range& columns,
                  const Range& steps) {
        const std::int64_t depth = steps.count();
        const std::int64_t first = rows.begin * kBlockRows;
        operands_.left(first, std::min(p_.m, rows.end * kBlockRows) - first, steps.begin, depth,
                       left_);
        const std::int64_t left_block = p_.left_turned ? kTurnedRow * depth : kBlockRows * kLeftRow;
        for (std::int64_t c = columns.begin; c < columns.end; ++c) {
            const std::int64_t column = c * kBlockColumns;
            const std::int64_t there = std::min(p_.n - column, kBlockColumns);
            VectorBlock block{left_,
                              right_ + (c - columns.begin) * kBlockColumns * depth,
                              nullptr,
                              cut_.sums_row(),
                              0,
                              pieces(there, kVector),
                              depth,
                              p_.left_turned,
                              steps.begin > 0};
            for (std::int64_t r = rows.begin; r < rows.end; ++r) {
                const std::int64_t row = r * kBlockRows;
                block.rows = std::min(p_.m - row, kBlockRows);
                block.sums = cut_.deep
                                 ? sums_ + (r - first_of_chunk) * kBlockRows * block.sums_row +
                                       (c - columns.begin) * kBlockColumns
                                 : sums_;
                multiply_block(block);
                block.left += left_block;
                if (steps.end == p_.k) {
                    write_({block.sums, block.sums_row,
                            results_.bias == nullptr ? nullptr : results_.bias + column,
                            row * p_.n + column, p_.n, block.rows, there},
                           results_);
                }
            }
        }
    }

    const VectorProduct& p_;
    const ProductCut& cut_;
    const ProductOperands& operands_;
    const VectorProduct::Results& results_;
    Write write_;
    float* left_;
    float* right_;
    float* sums_;
    Range rows_{}, columns_{};
};

} // namespace

std::int64_t VectorProduct::workspace_bytes() const {
    const ProductCut cut(*this);
    return cut.row_parts * cut.column_parts * cut.part_bytes();
}

void VectorProduct::run(const ProductOperands& operands, const Results& results,
                        void* workspace) const {
    const ProductCut cut(*this);
    const std::int64_t parts = cut.row_parts * cut.column_parts;
    // Each part is work enough for a thread.
    parallel_each(parts, parts * kParallelWork, threads, [&](std::int64_t index, int) {
        ProductPart(*this, cut, operands, results, workspace, index).run();
    });
}

void require_vectors(const Op& op) {
    const std::int32_t in = op.input(0).dtype;
    if (!is_float(in) || op.input(1).dtype != in || !is_float(op.output(0).dtype)) {
        unsupported("vectors multiply f32 or bf16");
    }
    if (!machine_has_avx512()) {
        unsupported("no AVX-512 on this machine");
    }
}

void require_vectors_win(const Op& op) {
    static const bool pairs_are_slow =
        !machine_has_pairs() || (__builtin_cpu_is("intel") && __builtin_cpu_supports("avx512fp16"));
    if (op.input(0).dtype != WEFT_BF16 || !pairs_are_slow || tiles_serve()) {
        unsupported("others multiply faster");
    }
}

} // namespace weft::kernels::cpu
