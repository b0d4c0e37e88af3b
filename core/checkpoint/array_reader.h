// SPDX-License-Identifier: Apache-2.0
// Blocks of the arrays of a checkpoint, of which only the bytes that are needed are read. One
// thread at a time.
#pragma once

#include "core/checkpoint/checkpoint.h"

#include "core/base/file.h"

#include <map>

namespace weft::checkpoint {

/// What a reader takes out of one piece.
struct PieceUse {
    const PieceInfo* piece = nullptr;
    Box common; // in the array
    std::int64_t bytes = 0;
};
/// Exactly what ArrayReader::read reads for this block.
std::vector<PieceUse> pieces_used(const TensorInfo& tensor, const Box& block);

class ArrayReader {
public:
    /// `manifest` must outlive the reader.
    explicit ArrayReader(const Manifest& manifest);

    /// Reads a block of an array to its place in `into`, which has the bytes of the place's memory;
    /// bytes around the block stay. Checks the checksum of every piece that it needs the whole of.
    /// Throws weft::Error{checkpoint}.
    void read(const TensorInfo& tensor, const Placed& place, std::span<std::byte> into);
    /// Of arrays, so far.
    std::int64_t bytes_read() const { return bytes_read_; }
    /// Of them, from pieces that were read in part, whose checksum says nothing about the part.
    std::int64_t bytes_unchecked() const { return bytes_unchecked_; }

private:
    const File& shard(const std::string& name);

    const Manifest& manifest_;
    std::map<std::string, File> shards_; // opened on first use
    std::vector<std::byte> buffer_;
    std::int64_t bytes_read_ = 0;
    std::int64_t bytes_unchecked_ = 0;
};

} // namespace weft::checkpoint
