// SPDX-License-Identifier: Apache-2.0
// Checksums of a piece of an array: one of all its bytes, and one per block of a MiB, so that a
// part of a piece can be checked without reading the rest of it.
#pragma once

#include "core/base/file.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace weft::checkpoint {

inline constexpr std::int64_t kBlockBytes = std::int64_t{1} << 20;

/// Blocks that so many bytes begin; the last one may be shorter.
std::int64_t blocks_in(std::int64_t bytes);

/// Takes the bytes of a piece in order, in any portions.
class BlockSums {
public:
    void add(std::span<const std::byte> bytes);

    std::uint32_t crc() const { return crc_; }
    const std::vector<std::uint32_t>& blocks() const { return blocks_; }

private:
    std::uint32_t crc_ = 0;
    std::vector<std::uint32_t> blocks_;
    std::int64_t last_bytes_ = kBlockBytes; // of the last block so far: full, the next begins
};

/// Of a stretch of a file. `on_block` is told the bytes of each block that was read.
BlockSums block_sums(const File& file, std::int64_t offset, std::int64_t bytes,
                     const std::function<void(std::int64_t)>& on_block = {});

} // namespace weft::checkpoint
