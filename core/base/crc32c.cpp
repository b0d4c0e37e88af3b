// SPDX-License-Identifier: Apache-2.0
#include "core/base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace weft {
namespace {

constexpr std::array<uint32_t, 256> make_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) {
            value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F63B78u : 0u);
        }
        table[i] = value;
    }
    return table;
}

constexpr std::array<uint32_t, 256> kTable = make_table();

#if defined(__x86_64__)

[[gnu::target("sse4.2")]] uint32_t crc32c_sse42(std::span<const std::byte> bytes,
                                                uint32_t previous) {
    uint64_t crc = ~previous;
    const std::byte* at = bytes.data();
    size_t left = bytes.size();
    for (; left >= 8; left -= 8, at += 8) {
        uint64_t word;
        std::memcpy(&word, at, 8);
        crc = _mm_crc32_u64(crc, word);
    }
    auto tail = static_cast<uint32_t>(crc);
    for (; left > 0; --left, ++at) {
        tail = _mm_crc32_u8(tail, static_cast<uint8_t>(*at));
    }
    return ~tail;
}

bool has_sse42() {
    static const bool value = __builtin_cpu_supports("sse4.2") != 0;
    return value;
}

#endif

} // namespace

uint32_t crc32c_portable(std::span<const std::byte> bytes, uint32_t previous) {
    uint32_t crc = ~previous;
    for (const std::byte byte : bytes) {
        crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
    }
    return ~crc;
}

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t previous) {
#if defined(__x86_64__)
    if (has_sse42()) {
        return crc32c_sse42(bytes, previous);
    }
#endif
    return crc32c_portable(bytes, previous);
}

uint32_t crc32c(std::string_view bytes, uint32_t previous) {
    return crc32c(std::as_bytes(std::span(bytes)), previous);
}

} // namespace weft
