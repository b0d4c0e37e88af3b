// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/array_reader.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/checkpoint/block_sums.h"
#include "core/checkpoint/manifest_json.h"

#include <algorithm>
#include <cstring>

namespace weft::checkpoint {
namespace {

/// Bytes of a piece, all in one of its blocks, and where they go.
struct Stretch {
    std::int64_t from = 0; // in the piece
    std::int64_t bytes = 0;
    std::byte* to = nullptr;
};

/// What the destinations take of a piece, in the order of the file.
std::vector<Stretch> stretches_of(const PieceInfo& piece, std::int64_t element_bytes,
                                  std::span<const Destination> destinations) {
    std::vector<Stretch> out;
    for (const Destination& destination : destinations) {
        for_each_run(dense(piece.box), destination.place, [&](const Run& run) {
            std::int64_t from = run.from * element_bytes;
            std::byte* to = destination.into.data() + run.to * element_bytes;
            for (const std::int64_t end = from + run.count * element_bytes; from < end;) {
                const std::int64_t block_end = (from / kBlockBytes + 1) * kBlockBytes;
                const std::int64_t bytes = std::min(end, block_end) - from;
                out.push_back({from, bytes, to});
                from += bytes;
                to += bytes;
            }
        });
    }
    std::sort(out.begin(), out.end(),
              [](const Stretch& a, const Stretch& b) { return a.from < b.from; });
    return out;
}

} // namespace

std::vector<PieceUse> pieces_used(const TensorInfo& tensor, const Box& block) {
    std::vector<PieceUse> out;
    for (const PieceInfo& piece : tensor.pieces) {
        if (const std::optional<Box> common = overlap(piece.box, block)) {
            out.push_back(
                {&piece, *common, common->elements() * ir::dtype_bytes(tensor.type.dtype)});
        }
    }
    return out;
}

ArrayReader::ArrayReader(const Manifest& manifest) : manifest_(manifest) {}

const File& ArrayReader::shard(const std::string& name) {
    const auto found = shards_.find(name);
    if (found != shards_.end()) {
        return found->second;
    }
    File file(manifest_.path / name, File::Mode::read, ErrorKind::checkpoint);
    const auto info = std::find_if(manifest_.shards.begin(), manifest_.shards.end(),
                                   [&](const ShardInfo& shard) { return shard.file == name; });
    WEFT_CHECK(info != manifest_.shards.end(), "a shard of the checkpoint: " + name);
    if (structure_crc32c(file, payload_ranges(manifest_, name)) != info->structure_crc32c) {
        fail(manifest_.path / name, kStructureProblem);
    }
    return shards_.emplace(name, std::move(file)).first->second;
}

std::uint32_t ArrayReader::block_crc32c(const TensorInfo& tensor, const PieceInfo& piece,
                                        std::int64_t block) {
    const std::int64_t bytes = piece_bytes(tensor, piece);
    if (!piece.block_crc32c.empty()) {
        return piece.block_crc32c[static_cast<std::size_t>(block)];
    }
    if (bytes <= kBlockBytes) {
        return piece.crc32c;
    }
    std::vector<std::uint32_t>& sums = sums_[&piece];
    if (sums.empty()) {
        const BlockSums read = block_sums(shard(piece.shard), piece.offset, bytes);
        if (read.crc() != piece.crc32c) {
            fail(manifest_.path / piece.shard, checksum_problem(tensor, piece));
        }
        sums = read.blocks();
    }
    return sums[static_cast<std::size_t>(block)];
}

std::span<const std::byte> ArrayReader::checked_block(const TensorInfo& tensor,
                                                      const PieceInfo& piece, std::int64_t block) {
    const std::uint32_t expected = block_crc32c(tensor, piece, block);
    const std::int64_t begin = block * kBlockBytes;
    const std::int64_t bytes = std::min(piece_bytes(tensor, piece) - begin, kBlockBytes);
    buffer_.resize(static_cast<std::size_t>(kBlockBytes));
    const auto part = std::span(buffer_).first(static_cast<std::size_t>(bytes));
    shard(piece.shard).read_at(part, piece.offset + begin);
    bytes_read_ += bytes;
    if (crc32c(part) != expected) {
        fail(manifest_.path / piece.shard, checksum_problem(tensor, piece));
    }
    return part;
}

void ArrayReader::read_piece(const TensorInfo& tensor, const PieceInfo& piece,
                             std::span<const Destination> destinations) {
    std::span<const std::byte> bytes;
    std::int64_t block = -1;
    for (const Stretch& stretch :
         stretches_of(piece, ir::dtype_bytes(tensor.type.dtype), destinations)) {
        if (stretch.from / kBlockBytes != block) {
            block = stretch.from / kBlockBytes;
            bytes = checked_block(tensor, piece, block);
        }
        std::memcpy(stretch.to, bytes.data() + (stretch.from - block * kBlockBytes),
                    static_cast<std::size_t>(stretch.bytes));
    }
}

void ArrayReader::read(const TensorInfo& tensor, std::span<const Destination> destinations) {
    for (const auto& [place, into] : destinations) {
        WEFT_CHECK(inside(place.box, tensor.type.shape), "a block of the array " + tensor.name);
        WEFT_CHECK(static_cast<std::int64_t>(into.size()) ==
                       place.memory.elements() * ir::dtype_bytes(tensor.type.dtype),
                   "the buffer has the bytes of the memory of " + tensor.name);
    }
    for (const PieceInfo& piece : tensor.pieces) {
        read_piece(tensor, piece, destinations);
    }
}

void ArrayReader::read(const TensorInfo& tensor, const Placed& place, std::span<std::byte> into) {
    const Destination destination{place, into};
    read(tensor, std::span(&destination, 1));
}

} // namespace weft::checkpoint
