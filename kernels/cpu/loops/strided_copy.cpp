// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/loops/strided_copy.h"

#include "kernels/cpu/loops/parallel.h"

#include <cstring>

namespace weft::kernels::cpu {
namespace {

constexpr std::int64_t kTile = 32;

/// to[r * to_stride + c] = from[r + c * from_stride] for a tile: a transposition.
template <class Unit>
void transpose_tile(const Unit* from, Unit* to, std::int64_t rows, std::int64_t columns,
                    std::int64_t from_stride, std::int64_t to_stride) {
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < columns; ++c) {
            to[r * to_stride + c] = from[r + c * from_stride];
        }
    }
}

template <class Unit>
void strided_row(const Unit* from, Unit* to, std::int64_t count, std::int64_t from_stride,
                 std::int64_t to_stride) {
    for (std::int64_t i = 0; i < count; ++i) {
        to[i * to_stride] = from[i * from_stride];
    }
}

/// Calls fn with a null pointer of the unsigned type of `size` bytes.
template <class Fn>
void with_unit(std::int64_t size, const Fn& fn) {
    switch (size) {
    case 1: return fn(static_cast<std::uint8_t*>(nullptr));
    case 2: return fn(static_cast<std::uint16_t*>(nullptr));
    case 4: return fn(static_cast<std::uint32_t*>(nullptr));
    default: return fn(static_cast<std::uint64_t*>(nullptr));
    }
}

} // namespace

StridedCopy::StridedCopy(const Dims& shape, const Dims& from_strides, std::int64_t from_base,
                         const Dims& to_strides, std::int64_t to_base, std::int64_t size)
    : from_base_(from_base), to_base_(to_base), size_(size) {
    std::vector<Dim> dims;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        count_ *= shape[d];
        const Dim dim{shape[d], from_strides[d], to_strides[d]};
        if (dim.size == 1) {
            continue;
        }
        if (!dims.empty() && dims.back().from == dim.from * dim.size &&
            dims.back().to == dim.to * dim.size) {
            dims.back() = {dims.back().size * dim.size, dim.from, dim.to};
        } else {
            dims.push_back(dim);
        }
    }
    if (!dims.empty()) {
        row_ = dims.back();
        dims.pop_back();
    } else {
        row_ = {1, 1, 1};
    }
    if (row_.from > 1 && row_.to == 1) {
        for (std::size_t d = dims.size(); d-- > 0;) {
            if (dims[d].from == 1 && dims[d].size >= 4) {
                column_ = dims[d];
                dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(d));
                tiled_ = true;
                break;
            }
        }
    }
    outer_ = dims;
    for (const Dim& dim : outer_) {
        pieces_ *= dim.size;
    }
    pieces_ *= (column_.size + kTile - 1) / kTile;
}

void StridedCopy::offsets(std::int64_t index, std::int64_t& from, std::int64_t& to) const {
    from = from_base_;
    to = to_base_;
    for (std::size_t d = outer_.size(); d-- > 0;) {
        const std::int64_t at = index % outer_[d].size;
        index /= outer_[d].size;
        from += at * outer_[d].from;
        to += at * outer_[d].to;
    }
}

void StridedCopy::move_runs(const unsigned char* from, unsigned char* to, std::int64_t begin,
                            std::int64_t end) const {
    for (std::int64_t piece = begin; piece < end; ++piece) {
        std::int64_t a = 0;
        std::int64_t b = 0;
        offsets(piece, a, b);
        if (row_.from == 1 && row_.to == 1) {
            std::memcpy(to + b * size_, from + a * size_,
                        static_cast<std::size_t>(row_.size * size_));
            continue;
        }
        with_unit(size_, [&](auto* unit) {
            using Unit = std::remove_pointer_t<decltype(unit)>;
            strided_row(reinterpret_cast<const Unit*>(from) + a, reinterpret_cast<Unit*>(to) + b,
                        row_.size, row_.from, row_.to);
        });
    }
}

void StridedCopy::move_tiles(const unsigned char* from, unsigned char* to, std::int64_t begin,
                             std::int64_t end) const {
    const std::int64_t tiles = (column_.size + kTile - 1) / kTile;
    for (std::int64_t piece = begin; piece < end; ++piece) {
        std::int64_t a = 0;
        std::int64_t b = 0;
        offsets(piece / tiles, a, b);
        const std::int64_t first = piece % tiles * kTile;
        const std::int64_t rows = std::min(kTile, column_.size - first);
        with_unit(size_, [&](auto* unit) {
            using Unit = std::remove_pointer_t<decltype(unit)>;
            const auto* source = reinterpret_cast<const Unit*>(from) + a + first;
            auto* target = reinterpret_cast<Unit*>(to) + b + first * column_.to;
            for (std::int64_t c = 0; c < row_.size; c += kTile) {
                transpose_tile(source + c * row_.from, target + c, rows,
                               std::min(kTile, row_.size - c), row_.from, column_.to);
            }
        });
    }
}

void StridedCopy::run(const void* from, void* to, int threads) const {
    if (count_ == 0) {
        return;
    }
    const auto* source = static_cast<const unsigned char*>(from);
    auto* target = static_cast<unsigned char*>(to);
    parallel_ranges(pieces_, count_, threads, [&](std::int64_t begin, std::int64_t end, int) {
        if (tiled_) {
            move_tiles(source, target, begin, end);
        } else {
            move_runs(source, target, begin, end);
        }
    });
}

} // namespace weft::kernels::cpu
