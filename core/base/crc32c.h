// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), as used by checkpoints and event files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft {

/// The checksum of `bytes` appended to data whose checksum is `previous` (0 for none).
/// Uses the SSE 4.2 instruction where the processor has it, else tables.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t previous = 0);
uint32_t crc32c(std::string_view bytes, uint32_t previous = 0);

/// The table version, always built: the oracle of the fast one.
uint32_t crc32c_portable(std::span<const std::byte> bytes, uint32_t previous = 0);

} // namespace weft
