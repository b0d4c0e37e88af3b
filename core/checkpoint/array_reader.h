// SPDX-License-Identifier: Apache-2.0
// Blocks of the arrays of a checkpoint. Only what is needed is read, and nothing is handed out
// before its checksum was checked: a piece is read in blocks of a MiB, each with a checksum of its
// own. One thread at a time.
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
/// What a read of this block takes.
std::vector<PieceUse> pieces_used(const TensorInfo& tensor, const Box& block);

/// Where a block of an array goes.
struct Destination {
    Placed place;
    std::span<std::byte> into; // has the bytes of the place's memory
};

class ArrayReader {
public:
    /// `manifest` must outlive the reader.
    explicit ArrayReader(const Manifest& manifest);

    /// Reads blocks of one array of the manifest to their places; bytes around the blocks stay.
    /// What several of them have in common is read once. Throws weft::Error{checkpoint}, also when
    /// a checksum is wrong: of what is read, or of the structure of a shard that is used. Where an
    /// older checkpoint has no checksums of parts, the whole piece is checked first, once.
    void read(const TensorInfo& tensor, std::span<const Destination> destinations);
    void read(const TensorInfo& tensor, const Placed& place, std::span<std::byte> into);
    /// Of arrays, from files, so far: whole blocks of a MiB.
    std::int64_t bytes_read() const { return bytes_read_; }

private:
    void read_piece(const TensorInfo& tensor, const PieceInfo& piece,
                    std::span<const Destination> destinations);
    std::span<const std::byte> checked_block(const TensorInfo& tensor, const PieceInfo& piece,
                                             std::int64_t block);
    std::uint32_t block_crc32c(const TensorInfo& tensor, const PieceInfo& piece,
                               std::int64_t block);
    const File& shard(const std::string& name);

    const Manifest& manifest_;
    std::map<std::string, File> shards_; // opened on first use
    std::map<const PieceInfo*, std::vector<std::uint32_t>> sums_; // of pieces saved without
    std::vector<std::byte> buffer_;
    std::int64_t bytes_read_ = 0;
};

} // namespace weft::checkpoint
