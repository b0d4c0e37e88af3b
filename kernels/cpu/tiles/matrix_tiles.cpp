// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/tiles/matrix_tiles.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace weft::kernels::cpu {
namespace {

thread_local bool scope_is_open = false;

/// The operand of LDTILECFG: palette 1, eight tiles of 16 rows by 64 bytes.
struct alignas(64) TileSizes {
    std::uint8_t palette = 1;
    std::uint8_t start_row = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

constexpr TileSizes kSizes; // in memory: g++ 12 believes that the instruction reads 8 bytes of it

WEFT_TILES void open_tiles() {
    _tile_loadconfig(&kSizes);
}

WEFT_TILES void close_tiles() {
    _tile_release();
}

/// 32 by 32 results in four tiles: each operand tile is used twice.
WEFT_TILES void four_tiles(const Rows16& left, const Pairs& right, float* out, std::int64_t out_row,
                           std::int64_t pairs, bool accumulate) {
    const auto out_bytes = static_cast<std::size_t>(out_row) * 4;
    const auto left_bytes = static_cast<std::size_t>(left.row) * 2;
    const auto right_bytes = static_cast<std::size_t>(right.row) * 4;
    if (accumulate) {
        _tile_loadd(0, out, out_bytes);
        _tile_loadd(1, out + 16, out_bytes);
        _tile_loadd(2, out + 16 * out_row, out_bytes);
        _tile_loadd(3, out + 16 * out_row + 16, out_bytes);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (std::int64_t p = 0; p < pairs; p += 16) {
        _tile_loadd(4, left.data + 2 * p, left_bytes);
        _tile_loadd(6, right.data + p * right.row, right_bytes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, right.data + p * right.row + 16, right_bytes);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, left.data + 16 * left.row + 2 * p, left_bytes);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, out, out_bytes);
    _tile_stored(1, out + 16, out_bytes);
    _tile_stored(2, out + 16 * out_row, out_bytes);
    _tile_stored(3, out + 16 * out_row + 16, out_bytes);
}

WEFT_TILES void one_tile(const Rows16& left, const Pairs& right, float* out, std::int64_t out_row,
                         std::int64_t pairs, bool accumulate) {
    const auto out_bytes = static_cast<std::size_t>(out_row) * 4;
    if (accumulate) {
        _tile_loadd(0, out, out_bytes);
    } else {
        _tile_zero(0);
    }
    for (std::int64_t p = 0; p < pairs; p += 16) {
        _tile_loadd(4, left.data + 2 * p, static_cast<std::size_t>(left.row) * 2);
        _tile_loadd(6, right.data + p * right.row, static_cast<std::size_t>(right.row) * 4);
        _tile_dpbf16ps(0, 4, 6);
    }
    _tile_stored(0, out, out_bytes);
}

/// The processor has tiles, the operating system keeps them, and lets this process use them.
bool machine_has_tiles() {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    constexpr unsigned kSaved = 1u << 27; // leaf 1, ecx: XGETBV is there
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kSaved) == 0) {
        return false;
    }
    constexpr unsigned kTiles = 1u << 24 | 1u << 22; // leaf 7, edx: AMX-TILE, AMX-BF16
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & kTiles) != kTiles) {
        return false;
    }
    unsigned low = 0;
    unsigned high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    constexpr unsigned kState = 3u << 17; // XTILECFG, XTILEDATA
    if ((low & kState) != kState) {
        return false;
    }
    constexpr long kAskFor = 0x1023; // ARCH_REQ_XCOMP_PERM
    constexpr long kTileData = 18;
    return syscall(SYS_arch_prctl, kAskFor, kTileData) == 0;
}

/// A product of small integers, whose sums are exact in any order, has the right bits.
bool tiles_give_the_right_bits() {
    constexpr std::int64_t kSize = 48;
    constexpr std::int64_t kPairCount = 32;
    std::vector<std::uint16_t> left(kSize * 2 * kPairCount);
    std::vector<std::uint32_t> right(kPairCount * kSize);
    // 0..7 as bf16: the upper half of the float.
    const auto brief = [](std::int64_t i) {
        const auto value = static_cast<float>((i * 2654435761u >> 7) % 8);
        std::uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        return bits >> 16;
    };
    const auto number = [](std::uint32_t bits) {
        bits <<= 16;
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    };
    for (std::size_t i = 0; i < left.size(); ++i) {
        left[i] = static_cast<std::uint16_t>(brief(static_cast<std::int64_t>(i)));
    }
    for (std::size_t i = 0; i < right.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        right[i] = brief(3 * at + 1) << 16 | brief(5 * at + 2);
    }
    std::vector<float> out(kSize * kSize, 1.0f);
    std::vector<float> expected(kSize * kSize, 1.0f);
    for (std::int64_t i = 0; i < kSize; ++i) {
        for (std::int64_t j = 0; j < kSize; ++j) {
            float& sum = expected[static_cast<std::size_t>(i * kSize + j)];
            for (std::int64_t p = 0; p < kPairCount; ++p) {
                const std::uint32_t pair = right[static_cast<std::size_t>(p * kSize + j)];
                const auto* row = left.data() + i * 2 * kPairCount + 2 * p;
                sum += number(row[0]) * number(pair & 0xffff) + number(row[1]) * number(pair >> 16);
            }
        }
    }
    open_tiles();
    multiply_tiles({left.data(), 2 * kPairCount}, {right.data(), kSize}, out.data(), kSize, kSize,
                   kSize, kPairCount, true);
    close_tiles();
    return out == expected;
}

} // namespace

bool tiles_serve() {
    static const bool serve =
        machine_has_pairs() && machine_has_tiles() && tiles_give_the_right_bits();
    return serve;
}

TileScope::TileScope() {
    if (tiles_serve()) {
        open_tiles();
        scope_is_open = true;
    }
}

TileScope::~TileScope() {
    if (scope_is_open) {
        scope_is_open = false;
        close_tiles();
    }
}

bool tiles_are_ready() {
    return scope_is_open;
}

void multiply_tiles(const Rows16& left, const Pairs& right, float* out, std::int64_t out_row,
                    std::int64_t m, std::int64_t n, std::int64_t pairs, bool accumulate) {
    const std::int64_t wide_m = m / 32 * 32;
    const std::int64_t wide_n = n / 32 * 32;
    for (std::int64_t j = 0; j < wide_n; j += 32) {
        for (std::int64_t i = 0; i < wide_m; i += 32) {
            four_tiles({left.data + i * left.row, left.row}, {right.data + j, right.row},
                       out + i * out_row + j, out_row, pairs, accumulate);
        }
    }
    for (std::int64_t j = 0; j < n; j += 16) {
        for (std::int64_t i = j < wide_n ? wide_m : 0; i < m; i += 16) {
            one_tile({left.data + i * left.row, left.row}, {right.data + j, right.row},
                     out + i * out_row + j, out_row, pairs, accumulate);
        }
    }
}

} // namespace weft::kernels::cpu
