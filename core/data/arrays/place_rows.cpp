// SPDX-License-Identifier: Apache-2.0
#include "core/data/arrays/place_rows.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace weft::data {
namespace {

constexpr std::size_t kCacheLine = 64;

/// Whole lines of the cache past it: a window is larger than the cache, and a line that is written
/// whole need not be read first.
bool place_lines(std::span<const std::byte> rows, std::size_t row_bytes,
                 std::span<const std::uint32_t> places, std::span<std::byte> out) {
#if defined(__SSE2__)
    if (row_bytes % kCacheLine != 0 ||
        reinterpret_cast<std::uintptr_t>(out.data()) % kCacheLine != 0) {
        return false;
    }
    const std::byte* from = rows.data();
    for (const std::uint32_t place : places) {
        std::byte* to = out.data() + place * row_bytes;
        for (std::size_t at = 0; at < row_bytes; at += sizeof(__m128i)) {
            _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
        }
        from += row_bytes;
    }
    _mm_sfence();
    return true;
#else
    return false;
#endif
}

template <std::size_t bytes>
void place_small(const std::byte* from, std::span<const std::uint32_t> places, std::byte* out) {
    for (const std::uint32_t place : places) {
        std::memcpy(out + place * bytes, from, bytes);
        from += bytes;
    }
}

} // namespace

void place_rows(std::span<const std::byte> rows, std::size_t row_bytes,
                std::span<const std::uint32_t> places, std::span<std::byte> out) {
    if (place_lines(rows, row_bytes, places, out)) {
        return;
    }
    switch (row_bytes) {
    case 4: return place_small<4>(rows.data(), places, out.data());
    case 8: return place_small<8>(rows.data(), places, out.data());
    case 16: return place_small<16>(rows.data(), places, out.data());
    case 32: return place_small<32>(rows.data(), places, out.data());
    default: break;
    }
    const std::byte* from = rows.data();
    for (const std::uint32_t place : places) {
        std::memcpy(out.data() + place * row_bytes, from, row_bytes);
        from += row_bytes;
    }
}

} // namespace weft::data
