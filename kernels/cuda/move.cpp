// SPDX-License-Identifier: Apache-2.0
// Two ways to move a box: along the destination, in pieces as wide as both ends allow; or, where
// source and destination run along different dimensions, through tiles in shared memory, so that
// both reads and writes are of neighbours.
#include "kernels/cuda/move.h"

#include <numeric>

namespace weft::kernels::cuda {
namespace {

constexpr int kDims = WEFT_MAX_RANK;
constexpr int kTile = 32;
constexpr int kTileRows = 8; // that a block of 256 threads moves at once

} // namespace

/// Extents and strides by value; `dense` counts pieces.
struct Pieces {
    int rank;
    u32 dense[kDims], shape[kDims];
    i64 src[kDims], dst[kDims]; // bytes
};

template <int Bytes>
WEFT_KERNEL move_pieces(const Pieces pieces, const unsigned char* from, unsigned char* to,
                        i64 count) {
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        i64 src = 0;
        i64 dst = 0;
        const u32 index = static_cast<u32>(i);
        for (int d = 0; d < pieces.rank; ++d) {
            const u32 at = index / pieces.dense[d] % pieces.shape[d];
            src += at * pieces.src[d];
            dst += at * pieces.dst[d];
        }
        u64 words[Bytes > 8 ? 2 : 1];
        load_vector<Bytes>(from + src, words);
        store_vector<Bytes>(to + dst, words);
    }
}

/// Dimension 0 is dense in the source, dimension 1 in the destination; the others are walked.
template <int Bytes>
WEFT_KERNEL move_tiles(const Pieces pieces, const unsigned char* from, unsigned char* to) {
    WEFT_SHARED(u64, tile, kTile * (kTile + 1));
    i64 src = 0;
    i64 dst = 0;
    for (int d = 2; d < pieces.rank; ++d) {
        const u32 at = static_cast<u32>(block_y()) / pieces.dense[d] % pieces.shape[d];
        src += at * pieces.src[d];
        dst += at * pieces.dst[d];
    }
    const u32 across = (pieces.shape[0] + kTile - 1) / kTile;
    const u32 column = static_cast<u32>(block()) % across * kTile;
    const u32 row = static_cast<u32>(block()) / across * kTile;
    const u32 x = static_cast<u32>(thread() % kTile);
    const u32 y = static_cast<u32>(thread() / kTile);
    for (u32 k = y; k < kTile; k += kTileRows) {
        if (column + x < pieces.shape[0] && row + k < pieces.shape[1]) {
            u64 word = 0;
            load_vector<Bytes>(
                from + src + (column + x) * pieces.src[0] + (row + k) * pieces.src[1], &word);
            tile[k * (kTile + 1) + x] = word;
        }
    }
    barrier();
    for (u32 k = y; k < kTile; k += kTileRows) {
        if (row + x < pieces.shape[1] && column + k < pieces.shape[0]) {
            const u64 word = tile[x * (kTile + 1) + k];
            store_vector<Bytes>(to + dst + (row + x) * pieces.dst[1] + (column + k) * pieces.dst[0],
                                &word);
        }
    }
}

template <int Bytes>
WEFT_KERNEL fill_elements(unsigned char* to, i64 count, u64 bits) {
    for (i64 i = block() * threads() + thread(); i < count; i += blocks() * threads()) {
        store_vector<Bytes>(to + i * Bytes, &bits);
    }
}

namespace {

i64 count_of(const Dims& shape) {
    return std::accumulate(shape.begin(), shape.end(), i64{1}, std::multiplies<>());
}

bool dense_inside(const Box& box) {
    return !box.shape.empty() && box.src_bytes.back() == box.element_bytes &&
           box.dst_bytes.back() == box.element_bytes;
}

/// The box with elements of `bytes`, which divides everything.
Pieces pieces_of(const Box& box, i64 bytes) {
    Pieces out{};
    out.rank = static_cast<int>(box.shape.size());
    i64 dense = 1;
    for (std::size_t d = box.shape.size(); d-- > 0;) {
        const bool inner = d + 1 == box.shape.size() && dense_inside(box);
        out.shape[d] =
            static_cast<u32>(inner ? box.shape[d] * box.element_bytes / bytes : box.shape[d]);
        out.src[d] = inner ? bytes : box.src_bytes[d];
        out.dst[d] = inner ? bytes : box.dst_bytes[d];
        out.dense[d] = static_cast<u32>(dense);
        dense *= out.shape[d];
    }
    return out;
}

/// The widest piece that divides addresses, strides and the innermost run.
i64 piece_bytes(const Box& box, const void* src, const void* dst) {
    if (!dense_inside(box)) {
        return box.element_bytes;
    }
    i64 common = std::gcd(i64{16}, box.shape.back() * box.element_bytes);
    for (std::size_t d = 0; d + 1 < box.shape.size(); ++d) {
        common = std::gcd(std::gcd(common, box.src_bytes[d]), box.dst_bytes[d]);
    }
    common = std::gcd(common, static_cast<i64>(reinterpret_cast<std::uintptr_t>(src) % 16));
    return std::gcd(common, static_cast<i64>(reinterpret_cast<std::uintptr_t>(dst) % 16));
}

/// Dimension that is dense in the source when another one is in the destination; -1: no tiles.
int tiled_dimension(const Box& box) {
    const auto rank = static_cast<int>(box.shape.size());
    if (rank < 2 || box.dst_bytes.back() != box.element_bytes || dense_inside(box) ||
        box.shape.back() < kTile / 4) {
        return -1;
    }
    for (int d = 0; d + 1 < rank; ++d) {
        if (box.src_bytes[static_cast<std::size_t>(d)] == box.element_bytes &&
            box.shape[static_cast<std::size_t>(d)] >= kTile / 4) {
            return d;
        }
    }
    return -1;
}

/// The box with the tiled dimension first and the innermost second.
Box for_tiles(const Box& box, int tiled) {
    Box out = box;
    const auto last = box.shape.size() - 1;
    const auto take = [&](Dims& to, const Dims& from) {
        to = {from[static_cast<std::size_t>(tiled)], from[last]};
        for (std::size_t d = 0; d < last; ++d) {
            if (static_cast<int>(d) != tiled) {
                to.push_back(from[d]);
            }
        }
    };
    take(out.shape, box.shape);
    take(out.src_bytes, box.src_bytes);
    take(out.dst_bytes, box.dst_bytes);
    return out;
}

} // namespace

Box merged(Box box) {
    Box out = box;
    out.shape.clear();
    out.src_bytes.clear();
    out.dst_bytes.clear();
    for (std::size_t d = 0; d < box.shape.size(); ++d) {
        const i64 size = box.shape[d];
        if (size == 1) {
            continue;
        }
        if (!out.shape.empty() && out.src_bytes.back() == box.src_bytes[d] * size &&
            out.dst_bytes.back() == box.dst_bytes[d] * size) {
            out.shape.back() *= size;
            out.src_bytes.back() = box.src_bytes[d];
            out.dst_bytes.back() = box.dst_bytes[d];
        } else {
            out.shape.push_back(size);
            out.src_bytes.push_back(box.src_bytes[d]);
            out.dst_bytes.push_back(box.dst_bytes[d]);
        }
    }
    if (out.shape.empty()) {
        out.shape = {1};
        out.src_bytes = out.dst_bytes = {box.element_bytes};
    }
    if (count_of(out.shape) > 0xffffffff) {
        unsupported("more than 2^32 elements at once");
    }
    return out;
}

void move_box(const Run& run, const Box& box, const void* src, void* dst) {
    const auto* from = static_cast<const unsigned char*>(src) + box.src_start;
    auto* to = static_cast<unsigned char*>(dst) + box.dst_start;
    const int tiled = tiled_dimension(box);
    const Box turned = tiled >= 0 ? for_tiles(box, tiled) : box;
    const i64 outer =
        tiled >= 0 ? count_of(turned.shape) / std::max<i64>(1, turned.shape[0] * turned.shape[1])
                   : 0;
    if (tiled >= 0 && outer <= 65535) {
        Pieces pieces = pieces_of(turned, box.element_bytes);
        // Of the dimensions that are walked, the innermost counts single boxes.
        const Grid grid{ceil_divide(turned.shape[0], kTile) * ceil_divide(turned.shape[1], kTile),
                        outer, kTile * kTileRows};
        with_bytes(box.element_bytes, [&](auto bytes) {
            if constexpr (bytes <= 8) {
                run.launch(grid, move_tiles<bytes>, pieces, from, to);
            }
        });
        return;
    }
    const i64 bytes = piece_bytes(box, from, to);
    const Pieces pieces = pieces_of(box, bytes);
    i64 count = 1;
    for (int d = 0; d < pieces.rank; ++d) {
        count *= pieces.shape[d];
    }
    with_bytes(bytes, [&](auto width) {
        run.launch(grid_over(count), move_pieces<width>, pieces, from, to, count);
    });
}

void fill(const Run& run, void* dst, i64 count, i64 element_bytes, u64 bits) {
    with_bytes(element_bytes, [&](auto bytes) {
        if constexpr (bytes <= 8) {
            run.launch(grid_over(count), fill_elements<bytes>, static_cast<unsigned char*>(dst),
                       count, bits);
        }
    });
}

} // namespace weft::kernels::cuda
