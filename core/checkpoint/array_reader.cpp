// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/array_reader.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/checkpoint/manifest_json.h"

#include <cstring>

namespace weft::checkpoint {
namespace {

/// Runs below this many bytes are read together where they are neighbours in the file.
constexpr std::int64_t kLongReadRun = 64 * 1024;
constexpr std::size_t kReadBufferBytes = 1 << 20;

/// Reads stretches of a file, ascending, to places in memory.
class Scatter {
public:
    Scatter(const File& file, std::span<std::byte> into, std::vector<std::byte>& buffer)
        : file_(file), into_(into), buffer_(buffer) {}

    void add(std::int64_t offset, std::int64_t to, std::int64_t bytes) {
        const auto size = static_cast<std::size_t>(bytes);
        if (bytes >= kLongReadRun) {
            flush();
            read(into_.subspan(static_cast<std::size_t>(to), size), offset);
            return;
        }
        const auto gathered = static_cast<std::int64_t>(gathered_);
        if (offset != first_ + gathered || gathered_ + size > kReadBufferBytes) {
            flush();
            first_ = offset;
        }
        waiting_.push_back({static_cast<std::size_t>(to), size});
        gathered_ += size;
    }

    void flush() {
        if (waiting_.empty()) {
            return;
        }
        buffer_.resize(kReadBufferBytes);
        const auto all = std::span(buffer_).first(gathered_);
        read(all, first_);
        std::size_t at = 0;
        for (const auto& [to, size] : waiting_) {
            std::memcpy(into_.data() + to, all.data() + at, size);
            at += size;
        }
        waiting_.clear();
        gathered_ = 0;
    }

    std::uint32_t crc() const { return crc_; }
    std::int64_t bytes() const { return bytes_; }

private:
    void read(std::span<std::byte> part, std::int64_t offset) {
        file_.read_at(part, offset);
        crc_ = crc32c(part, crc_);
        bytes_ += static_cast<std::int64_t>(part.size());
    }

    struct Waiting {
        std::size_t to = 0;
        std::size_t size = 0;
    };

    const File& file_;
    const std::span<std::byte> into_;
    std::vector<std::byte>& buffer_;
    std::vector<Waiting> waiting_;
    std::size_t gathered_ = 0; // bytes that wait, from `first_` of the file
    std::int64_t first_ = 0;
    std::uint32_t crc_ = 0;
    std::int64_t bytes_ = 0;
};

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
    return found != shards_.end() ? found->second
                                  : shards_
                                        .emplace(name, File(manifest_.path / name, File::Mode::read,
                                                            ErrorKind::checkpoint))
                                        .first->second;
}

void ArrayReader::read(const TensorInfo& tensor, const Placed& place, std::span<std::byte> into) {
    const std::int64_t size = ir::dtype_bytes(tensor.type.dtype);
    WEFT_CHECK(inside(place.box, tensor.type.shape), "a block of the array " + tensor.name);
    WEFT_CHECK(static_cast<std::int64_t>(into.size()) == place.memory.elements() * size,
               "the buffer has the bytes of the memory of " + tensor.name);
    for (const PieceUse& use : pieces_used(tensor, place.box)) {
        const PieceInfo& piece = *use.piece;
        Scatter scatter(shard(piece.shard), into, buffer_);
        for_each_run(dense(piece.box), place, [&](const Run& run) {
            scatter.add(piece.offset + run.from * size, run.to * size, run.count * size);
        });
        scatter.flush();
        bytes_read_ += scatter.bytes();
        if (use.common != piece.box) {
            bytes_unchecked_ += scatter.bytes();
        } else if (scatter.crc() != piece.crc32c) {
            fail(manifest_.path / piece.shard, checksum_problem(tensor, piece));
        }
    }
}

} // namespace weft::checkpoint
