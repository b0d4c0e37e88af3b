// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/eight_bits.h"

namespace weft::kernels::cuda {

constexpr int kEightPack = 8;   // elements that a thread takes at once
constexpr int kTurnTile = 64;   // rows and columns that a block turns
constexpr int kTurnPitch = 68;  // of its rows in shared memory: off the banks of the next
constexpr int kMostSizes = 256; // blocks that look for the largest number; a thread each afterwards

/// e4m3 or e5m2: bits behind the first, bias of exponents, code of the largest number, and the
/// exponent of the power of two above that, of which it is 0.875.
struct EightBitFormat {
    int fraction_bits, bias;
    u32 largest_code;
    int room;
};

/// To nearest, ties to even; what is too large becomes the largest.
WEFT_DEVICE u32 eight_bits_of(const EightBitFormat& f, float value) {
    const u32 bits = bits_of_float(value);
    const u32 size = bits & 0x7fffffffu;
    const int shift = 23 - f.fraction_bits;
    const u32 smallest = static_cast<u32>(128 - f.bias) << 23; // normal number
    // Denormals are what is left of a sum whose units are theirs.
    const u32 units = static_cast<u32>(151 - f.bias - f.fraction_bits) << 23;
    const u32 denormal = bits_of_float(float_of_bits(size) + float_of_bits(units)) - units;
    const u32 rounded = size + (1u << (shift - 1)) - 1u + (size >> shift & 1u);
    const u32 normal = (rounded - (static_cast<u32>(127 - f.bias) << 23)) >> shift;
    u32 code = size < smallest ? denormal : normal;
    code = size > 0x7f800000u ? 0x7fu : code > f.largest_code ? f.largest_code : code;
    return code | (bits >> 24 & 0x80u);
}

/// The largest of what the threads of the block have; NaN if one has that.
template <class Scratch>
WEFT_DEVICE float block_largest(float value, Scratch& scratch) {
    value = warp_max(value);
    if (thread() % kWarp == 0) {
        scratch[thread() / kWarp] = value;
    }
    barrier();
    const int lane = thread() % kWarp;
    return warp_max(lane < threads() / kWarp ? static_cast<float>(scratch[lane]) : 0.0f);
}

/// Exponent of the operand's scale: see kernels/operand_format.h.
WEFT_DEVICE int exponent_for(const EightBitFormat& f, float largest) {
    const u32 bits = bits_of_float(largest);
    const int exponent =
        f.room - (static_cast<int>(bits >> 23) - 126) - ((bits & 0x7fffffu) > 0x600000u ? 1 : 0);
    return exponent > 126 ? 126 : exponent < -126 ? -126 : exponent;
}

/// 2^exponent; NaN where the operand has a number that is not finite, which then spoils all.
WEFT_DEVICE float power_for(float largest, int exponent) {
    return bits_of_float(largest) < 0x7f800000u
               ? float_of_bits(static_cast<u32>(127 + exponent) << 23)
               : float_of_bits(0x7fc00000u);
}

WEFT_KERNEL largest_sizes(i64 packs, const Source from, float* to) {
    WEFT_SHARED(float, scratch, kWarp);
    float value = 0.0f;
    for (i64 i = block() * threads() + thread(); i < packs; i += blocks() * threads()) {
        float pack[kEightPack];
        load_pack<kEightPack>(from, i * kEightPack, pack);
        WEFT_UNROLL
        for (int k = 0; k < kEightPack; ++k) {
            value = larger(value, fabsf(pack[k]));
        }
    }
    value = block_largest(value, scratch);
    if (thread() == 0) {
        to[block()] = value;
    }
}

/// Two words of a pack's numbers.
WEFT_DEVICE void narrow_pack(const EightBitFormat& f, const Source from, i64 at, float factor,
                             u32 (&words)[2]) {
    float pack[kEightPack];
    load_pack<kEightPack>(from, at, pack);
    WEFT_UNROLL
    for (int w = 0; w < 2; ++w) {
        words[w] = 0;
        WEFT_UNROLL
        for (int k = 0; k < 4; ++k) {
            words[w] |= eight_bits_of(f, pack[4 * w + k] * factor) << 8 * k;
        }
    }
}

WEFT_KERNEL write_eight_bits(i64 packs, const Source from, const EightBitFormat f,
                             const float* sizes, int count, unsigned char* to, float* scale) {
    WEFT_SHARED(float, scratch, kWarp);
    const float largest = block_largest(thread() < count ? sizes[thread()] : 0.0f, scratch);
    const int exponent = exponent_for(f, largest);
    const float factor = power_for(largest, exponent);
    if (block() == 0 && thread() == 0) {
        *scale = power_for(largest, -exponent);
    }
    for (i64 i = block() * threads() + thread(); i < packs; i += blocks() * threads()) {
        u32 words[2];
        narrow_pack(f, from, i * kEightPack, factor, words);
        store_vector<8>(to + i * kEightPack, words);
    }
}

/// A block to a tile; words of four rows go out.
WEFT_KERNEL turn_eight_bits(i64 rows, i64 columns, const Source from, const EightBitFormat f,
                            const float* sizes, int count, unsigned char* to, float* scale) {
    WEFT_SHARED(float, scratch, kWarp);
    WEFT_SHARED(unsigned char, tile, kTurnTile* kTurnPitch);
    const float largest = block_largest(thread() < count ? sizes[thread()] : 0.0f, scratch);
    const int exponent = exponent_for(f, largest);
    const float factor = power_for(largest, exponent);
    if (block() == 0 && block_y() == 0 && thread() == 0) {
        *scale = power_for(largest, -exponent);
    }
    const i64 first_row = block() * kTurnTile;
    const i64 first_column = block_y() * kTurnTile;
    constexpr int kPacks = kTurnTile / kEightPack;
    for (int i = thread(); i < kTurnTile * kPacks; i += threads()) {
        const int row = i / kPacks;
        const int column = i % kPacks * kEightPack;
        if (first_row + row < rows && first_column + column < columns) {
            u32 words[2];
            narrow_pack(f, from, (first_row + row) * columns + first_column + column, factor,
                        words);
            WEFT_UNROLL
            for (int k = 0; k < kEightPack; ++k) {
                tile[row * kTurnPitch + column + k] =
                    static_cast<unsigned char>(words[k / 4] >> k % 4 * 8);
            }
        }
    }
    barrier();
    constexpr int kWords = kTurnTile / 4;
    for (int i = thread(); i < kTurnTile * kWords; i += threads()) {
        const int column = i / kWords;
        const int row = i % kWords * 4;
        if (first_row + row < rows && first_column + column < columns) {
            u32 word = 0;
            WEFT_UNROLL
            for (int k = 0; k < 4; ++k) {
                word |= static_cast<u32>(tile[(row + k) * kTurnPitch + column]) << 8 * k;
            }
            store_vector<4>(to + (first_column + column) * rows + first_row + row, &word);
        }
    }
}

namespace {

constexpr EightBitFormat kE4m3Bits{3, 7, 0x7e, 9};
constexpr EightBitFormat kE5m2Bits{2, 15, 0x7b, 16};

} // namespace

EightBitOperand::EightBitOperand(const NumberFormat& format, i64 rows, i64 columns, bool turned,
                                 int dtype, std::int64_t offset)
    : narrow_range_(&format == &kE4m3), rows_(rows), columns_(columns), turned_(turned),
      dtype_(dtype), offset_(offset), grid_(grid_over(rows * columns / kEightPack)) {
    grid_.x = std::min<i64>(grid_.x, kMostSizes);
}

std::int64_t EightBitOperand::numbers_at() const {
    return sizes_at() + round_up_to_line(kMostSizes * static_cast<std::int64_t>(sizeof(float)));
}

std::int64_t EightBitOperand::workspace_bytes() const {
    return numbers_at() - offset_ + round_up_to_line(rows_ * columns_);
}

void EightBitOperand::queue(const Run& run, const void* from) const {
    const Source source{from, dtype_};
    const EightBitFormat format = narrow_range_ ? kE4m3Bits : kE5m2Bits;
    auto* sizes = run.workspace<float>(sizes_at());
    auto* scale = run.workspace<float>(offset_);
    auto* to = run.workspace<unsigned char>(numbers_at());
    const i64 packs = rows_ * columns_ / kEightPack;
    const auto count = static_cast<int>(grid_.x);
    run.launch(grid_, largest_sizes, packs, source, sizes);
    if (turned_) {
        run.launch({ceil_divide(rows_, kTurnTile), ceil_divide(columns_, kTurnTile), 256},
                   turn_eight_bits, rows_, columns_, source, format, sizes, count, to, scale);
    } else {
        run.launch(grid_over(packs), write_eight_bits, packs, source, format, sizes, count, to,
                   scale);
    }
}

} // namespace weft::kernels::cuda
