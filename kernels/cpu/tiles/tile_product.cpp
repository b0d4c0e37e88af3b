// SPDX-License-Identifier: Apache-2.0
// How a thread walks its part of a product: blocks of columns whose right operand, packed, stays in
// the second cache; panels of 32 rows whose left operand, packed, stays in the first; then blocks
// of 32 by 32 results, in four tiles. The right operand streams past the first cache (TILELOADDT1),
// which keeps the panel there. Results of one block are written between the products of the next.
#include "kernels/cpu/tiles/tile_product.h"

#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/pieces.h"
#include "kernels/cpu/tiles/matrix_tiles.h"
#include "kernels/cpu/tiles/tile_packing.h"

#include <algorithm>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kBlock = 2 * kTileSide; // rows and columns of a block of results
constexpr std::int64_t kTileSums = kTileSide * kTileSide;
constexpr std::int64_t kBlockSums = 4 * kTileSums; // floats, tile after tile
constexpr std::int64_t kPanelDepth = 20;           // tiles: 40 KiB of panel in the first cache
constexpr std::int64_t kRightBytes = 1 << 20;      // packed columns in the second cache
constexpr std::int64_t kMostDepth = 96;            // tiles that are packed as a whole,
constexpr std::int64_t kChunkDepth = 32;           // or at a time
constexpr std::int64_t kChunkRows = 32;            // blocks that share packed columns
constexpr double kAlone = 1 << 24;                 // FLOP below which one thread is enough

double flops(double m, double k, double n) {
    return 2 * m * k * n;
}

/// How the work is cut; in blocks of rows and columns, and tiles along the depth. The order of a
/// sum hangs on the depths alone.
struct Cut : PartGrid {
    std::int64_t depth;         // of the product
    std::int64_t chunk_depth;   // of columns that are packed at a time
    std::int64_t panel_depth;   // of a panel of rows
    std::int64_t chunk_rows;    // of a part, that go with packed columns
    std::int64_t chunk_columns; // that are packed at a time
    bool packs_once;            // a chunk of rows, for all its columns

    explicit Cut(const TileProduct& p) : PartGrid(share(p)) {
        depth = pieces(p.k, kTileDepth);
        chunk_depth = depth <= kMostDepth ? depth : equal_size(depth, kChunkDepth);
        panel_depth = equal_size(chunk_depth, kPanelDepth);
        chunk_rows = equal_size(part_rows, kChunkRows);
        chunk_columns =
            equal_size(part_columns,
                       std::max<std::int64_t>(2, kRightBytes / (chunk_depth * 4 * kTileNumbers)));
        packs_once = p.left_turned && chunk_columns < part_columns && chunk_depth == depth;
    }

    std::int64_t left_numbers() const {
        return 2 * kTileNumbers * (packs_once ? chunk_rows * depth : panel_depth);
    }
    std::int64_t right_numbers() const { return 2 * kTileNumbers * chunk_columns * chunk_depth; }
    std::int64_t sums() const {
        const std::int64_t kept = chunk_depth < depth         ? chunk_rows * chunk_columns
                                  : panel_depth < chunk_depth ? chunk_columns
                                                              : 1;
        return kBlockSums * kept;
    }
    std::int64_t part_bytes() const { return 2 * (left_numbers() + right_numbers()) + 4 * sums(); }

private:
    /// In cycles of one Sapphire Rapids per tile of depth: what two threads pack is packed twice.
    static PartGrid share(const TileProduct& p) {
        constexpr double kProduct = 70;
        constexpr double kPacked = 80; // a block's rows or columns as they are
        constexpr double kTurned = 200;
        const bool alone = flops(static_cast<double>(p.m), static_cast<double>(p.k),
                                 static_cast<double>(p.n)) < kAlone;
        return cheapest_grid(pieces(p.m, kBlock), pieces(p.n, kBlock), alone ? 1 : p.threads,
                             [&](double rows, double columns) {
                                 return rows * columns * kProduct +
                                        rows * (p.left_turned ? kTurned : kPacked) +
                                        columns * (p.right_turned ? kTurned : kPacked);
                             });
    }
};

/// How finished sums are written.
enum class Written { wide, brief, gelu, gelu_grad };

/// A block of finished sums on its way out.
struct Leaving {
    const float* sums = nullptr;
    const float* bias = nullptr; // of its columns
    char* out = nullptr;
    const char* before = nullptr; // rows like those of `out`
    char* beside = nullptr;
    std::int64_t row_bytes = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
};

/// 32 numbers of bf16.
struct Brief {
    __m512i numbers;
    WEFT_AVX512_BF16 WEFT_INLINE static Brief of(__m512 low, __m512 high) {
        return {reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low))};
    }
    WEFT_AVX512_BF16 WEFT_INLINE __m512 low() const {
        return wide(_mm512_castsi512_si256(numbers));
    }
    WEFT_AVX512_BF16 WEFT_INLINE __m512 high() const {
        return wide(_mm512_extracti64x4_epi64(numbers, 1));
    }

private:
    WEFT_AVX512_BF16 WEFT_INLINE static __m512 wide(__m256i half) {
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
    }
};

template <Written kWritten>
WEFT_TILES WEFT_INLINE void write_row(const Leaving& block, std::int64_t row) {
    const float* sums =
        block.sums + row / kTileSide * (2 * kTileSums) + row % kTileSide * kTileSide;
    __m512 low = _mm512_loadu_ps(sums);
    __m512 high = _mm512_loadu_ps(sums + kTileSums);
    const __mmask16 first = lanes(block.columns);
    const __mmask16 second = lanes(block.columns - kTileSide);
    const auto both = static_cast<__mmask32>(second) << 16 | first;
    if (block.bias != nullptr) {
        low = _mm512_add_ps(low, _mm512_maskz_loadu_ps(first, block.bias));
        high = _mm512_add_ps(high, _mm512_maskz_loadu_ps(second, block.bias + kTileSide));
    }
    char* out = block.out + row * block.row_bytes;
    if constexpr (kWritten == Written::wide) {
        _mm512_mask_storeu_ps(out, first, low);
        _mm512_mask_storeu_ps(out + 64, second, high);
        return;
    }
    if constexpr (kWritten == Written::gelu) {
        const Brief x = Brief::of(low, high);
        _mm512_mask_storeu_epi16(block.beside + row * block.row_bytes, both, x.numbers);
        low = _mm512_mul_ps(x.low(), gelu_share_512(x.low()));
        high = _mm512_mul_ps(x.high(), gelu_share_512(x.high()));
    } else if constexpr (kWritten == Written::gelu_grad) {
        const Brief x{_mm512_maskz_loadu_epi16(both, block.before + row * block.row_bytes)};
        low = _mm512_mul_ps(low, gelu_slope_512(x.low()));
        high = _mm512_mul_ps(high, gelu_slope_512(x.high()));
    }
    _mm512_mask_storeu_epi16(out, both, Brief::of(low, high).numbers);
}

template <Written kWritten>
WEFT_TILES void write_rows(const Leaving& block) {
    for (std::int64_t row = 0; row < block.rows; ++row) {
        write_row<kWritten>(block, row);
    }
}

/// sums [32, 32] (+)= left [32, 32 depth] right [32 depth, 32]; the two row tiles of `left` lie
/// `left_row` numbers apart. Meanwhile `before` leaves.
template <Written kWritten>
WEFT_TILES void multiply_block(const std::uint16_t* left, std::int64_t left_row,
                               const std::uint16_t* right, std::int64_t depth, float* sums,
                               bool resume, const Leaving& before) {
    if (resume) {
        _tile_loadd(0, sums, 64);
        _tile_loadd(1, sums + kTileSums, 64);
        _tile_loadd(2, sums + 2 * kTileSums, 64);
        _tile_loadd(3, sums + 3 * kTileSums, 64);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    const std::int64_t at_once = pieces(before.rows, depth);
    std::int64_t row = 0;
    for (std::int64_t d = 0; d < depth; ++d) {
        _tile_stream_loadd(6, right, 64);
        _tile_stream_loadd(7, right + kTileNumbers, 64);
        _tile_loadd(4, left, 64);
        _tile_loadd(5, left + left_row, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
        left += kTileNumbers;
        right += 2 * kTileNumbers;
        for (const std::int64_t end = std::min(row + at_once, before.rows); row < end; ++row) {
            write_row<kWritten>(before, row);
        }
    }
    _tile_stored(0, sums, 64);
    _tile_stored(1, sums + kTileSums, 64);
    _tile_stored(2, sums + 2 * kTileSums, 64);
    _tile_stored(3, sums + 3 * kTileSums, 64);
}

/// What one thread does: its part of the results.
class Part {
public:
    Part(const TileProduct& p, const Cut& cut, const TileProduct::Operands& operands,
         std::int64_t index)
        : p_(p), cut_(cut), operands_(operands) {
        auto* workspace = static_cast<char*>(operands.workspace) + index * cut.part_bytes();
        left_ = reinterpret_cast<std::uint16_t*>(workspace);
        right_ = left_ + cut.left_numbers();
        sums_ = reinterpret_cast<float*>(right_ + cut.right_numbers());
        rows_.begin = index / cut.column_parts * cut.part_rows;
        rows_.end = std::min(pieces(p.m, kBlock), rows_.begin + cut.part_rows);
        columns_.begin = index % cut.column_parts * cut.part_columns;
        columns_.end = std::min(pieces(p.n, kBlock), columns_.begin + cut.part_columns);
    }

    template <Written kWritten>
    void run() {
        for_pieces(rows_, cut_.chunk_rows, [&](const Range& rows) {
            if (cut_.packs_once) {
                for (std::int64_t r = rows.begin; r < rows.end; ++r) {
                    pack_panel(r, {0, cut_.depth}, left_ + packed_panel(r - rows.begin));
                }
            }
            for_pieces(columns_, cut_.chunk_columns, [&](const Range& columns) {
                for_pieces({0, cut_.depth}, cut_.chunk_depth, [&](const Range& depth) {
                    pack_columns(columns, depth);
                    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
                        for_pieces(depth, cut_.panel_depth, [&](const Range& panel) {
                            multiply_panel<kWritten>(r, r - rows.begin, columns, depth, panel);
                        });
                    }
                });
            });
        });
        write_rows<kWritten>(leaving_);
    }

private:
    std::int64_t packed_panel(std::int64_t row) const {
        return row * 2 * kTileNumbers * cut_.depth;
    }

    /// Two rows of tiles, one after the other.
    void pack_panel(std::int64_t row, const Range& depth, std::uint16_t* to) const {
        const std::int64_t first = depth.begin * kTileDepth;
        const std::int64_t numbers = std::min(p_.k, depth.end * kTileDepth) - first;
        for (std::int64_t side = 0; side < 2; ++side) {
            const std::int64_t begin = row * kBlock + side * kTileSide;
            const std::int64_t there = std::min(p_.m - begin, kTileSide);
            if (p_.left_turned) {
                pack_left_turned({operands_.left + first * p_.m + begin, p_.m}, there, numbers, to);
            } else {
                pack_left({operands_.left + begin * p_.k + first, p_.k}, there, numbers, to);
            }
            to += (depth.end - depth.begin) * kTileNumbers;
        }
    }

    void pack_columns(const Range& columns, const Range& depth) const {
        const std::int64_t first = depth.begin * kTileDepth;
        const std::int64_t numbers = std::min(p_.k, depth.end * kTileDepth) - first;
        std::uint16_t* to = right_;
        for (std::int64_t c = columns.begin; c < columns.end; ++c) {
            const std::int64_t begin = c * kBlock;
            const std::int64_t there = std::min(p_.n - begin, kBlock);
            if (p_.right_turned) {
                pack_right_turned({operands_.right + begin * p_.k + first, p_.k}, there, numbers,
                                  to);
            } else {
                pack_right({operands_.right + first * p_.n + begin, p_.n}, there, numbers, to);
            }
            to += (depth.end - depth.begin) * 2 * kTileNumbers;
        }
    }

    template <Written kWritten>
    void multiply_panel(std::int64_t row, std::int64_t row_of_chunk, const Range& columns,
                        const Range& depth, const Range& panel) {
        const std::int64_t steps = panel.end - panel.begin;
        const std::uint16_t* left = left_;
        std::int64_t left_row = steps * kTileNumbers;
        if (cut_.packs_once) {
            left += packed_panel(row_of_chunk) + panel.begin * kTileNumbers;
            left_row = cut_.depth * kTileNumbers;
        } else {
            pack_panel(row, panel, left_);
        }
        const bool whole = cut_.panel_depth == cut_.depth;
        const bool deep = cut_.chunk_depth < cut_.depth;
        for (std::int64_t c = columns.begin; c < columns.end; ++c) {
            const std::int64_t column = c - columns.begin;
            const std::int64_t block =
                whole ? 0 : (deep ? row_of_chunk * cut_.chunk_columns : 0) + column;
            float* sums = sums_ + block * kBlockSums;
            const std::uint16_t* right =
                right_ +
                (column * (depth.end - depth.begin) + panel.begin - depth.begin) * 2 * kTileNumbers;
            multiply_block<kWritten>(left, left_row, right, steps, sums, panel.begin > 0, leaving_);
            leaving_.rows = 0;
            if (panel.end == cut_.depth) {
                leave(row * kBlock, c * kBlock, sums, kWritten == Written::wide ? 4 : 2);
            }
        }
    }

    void leave(std::int64_t row, std::int64_t column, const float* sums, std::int64_t bytes) {
        const std::int64_t offset = (row * p_.n + column) * bytes;
        leaving_ = {
            sums,
            operands_.bias == nullptr ? nullptr : operands_.bias + column,
            static_cast<char*>(operands_.out) + offset,
            operands_.before == nullptr ? nullptr
                                        : static_cast<const char*>(operands_.before) + offset,
            operands_.beside == nullptr ? nullptr : static_cast<char*>(operands_.beside) + offset,
            p_.n * bytes,
            std::min(p_.m - row, kBlock),
            std::min(p_.n - column, kBlock)};
    }

    const TileProduct& p_;
    const Cut& cut_;
    const TileProduct::Operands& operands_;
    std::uint16_t* left_;
    std::uint16_t* right_;
    float* sums_;
    Range rows_, columns_;
    Leaving leaving_;
};

} // namespace

bool is_work_for_tiles(std::int64_t m, std::int64_t k, std::int64_t n) {
    constexpr double kLeast = 1 << 20; // FLOP
    constexpr double kFilled = 0.6;    // of the tiles
    const auto up = [](std::int64_t size, std::int64_t unit) {
        return static_cast<double>(pieces(size, unit) * unit);
    };
    const double work =
        flops(static_cast<double>(m), static_cast<double>(k), static_cast<double>(n));
    return work >= kLeast &&
           work >= kFilled * flops(up(m, kBlock), up(k, kTileDepth), up(n, kBlock));
}

std::int64_t TileProduct::workspace_bytes() const {
    const Cut cut(*this);
    return cut.row_parts * cut.column_parts * cut.part_bytes();
}

void TileProduct::run(const Operands& operands) const {
    const Cut cut(*this);
    const std::int64_t parts = cut.row_parts * cut.column_parts;
    // Each part is work enough for a thread.
    parallel_each(parts, parts * kParallelWork, threads, [&](std::int64_t index, int) {
        const TileScope tiles;
        Part part(*this, cut, operands, index);
        if (!brief_out) {
            part.run<Written::wide>();
        } else if (last == Last::gelu) {
            part.run<Written::gelu>();
        } else if (last == Last::gelu_grad) {
            part.run<Written::gelu_grad>();
        } else {
            part.run<Written::brief>();
        }
    });
}

} // namespace weft::kernels::cpu
