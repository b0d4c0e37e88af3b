// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/block_sums.h"

#include "core/base/crc32c.h"

#include <algorithm>

namespace weft::checkpoint {

std::int64_t blocks_in(std::int64_t bytes) {
    return bytes / kBlockBytes + (bytes % kBlockBytes != 0 ? 1 : 0);
}

void BlockSums::add(std::span<const std::byte> bytes) {
    crc_ = crc32c(bytes, crc_);
    while (!bytes.empty()) {
        if (last_bytes_ == kBlockBytes) {
            blocks_.push_back(0);
            last_bytes_ = 0;
        }
        const auto count = std::min<std::size_t>(
            bytes.size(), static_cast<std::size_t>(kBlockBytes - last_bytes_));
        blocks_.back() = crc32c(bytes.first(count), blocks_.back());
        last_bytes_ += static_cast<std::int64_t>(count);
        bytes = bytes.subspan(count);
    }
}

BlockSums block_sums(const File& file, std::int64_t offset, std::int64_t bytes,
                     const std::function<void(std::int64_t)>& on_block) {
    BlockSums sums;
    std::vector<std::byte> block(static_cast<std::size_t>(std::min(bytes, kBlockBytes)));
    for (std::int64_t done = 0; done < bytes;) {
        const std::int64_t count = std::min(bytes - done, kBlockBytes);
        const auto part = std::span(block).first(static_cast<std::size_t>(count));
        file.read_at(part, offset + done);
        sums.add(part);
        done += count;
        if (on_block) {
            on_block(count);
        }
    }
    return sums;
}

} // namespace weft::checkpoint
