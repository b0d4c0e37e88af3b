// SPDX-License-Identifier: Apache-2.0
#include "core/data/files/gzip.h"

#include "core/base/check.h"
#include "core/base/text.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace weft::data {
namespace {

constexpr std::size_t kChunkBytes = 256 * 1024;
constexpr std::int64_t kBestRatio = 1032;
constexpr const char* kDamagedGzipHint =
    "The file is damaged or incomplete; copy or download it again.";

} // namespace

struct InputFile::State {
    File file;
    std::int64_t size = 0;
    std::int64_t consumed = 0; // bytes taken from the file
    std::int64_t produced = 0; // bytes handed out
    bool compressed = false;
    bool finished = false; // the gzip stream has ended, checksum and length verified
    z_stream stream{};
    std::vector<std::byte> chunk;

    [[noreturn]] void fail(const std::string& text) const {
        throw Error(ErrorKind::data, file.path().string(), text, kDamagedGzipHint);
    }

    void refill() {
        const auto bytes = static_cast<std::size_t>(
            std::min<std::int64_t>(size - consumed, static_cast<std::int64_t>(kChunkBytes)));
        file.read_at(std::span(chunk).first(bytes), consumed);
        consumed += static_cast<std::int64_t>(bytes);
        stream.next_in = reinterpret_cast<Bytef*>(chunk.data());
        stream.avail_in = static_cast<uInt>(bytes);
    }

    /// Decompresses into `bytes` until they are full or the stream ends; returns how many were
    /// written.
    std::size_t inflate_into(std::span<std::byte> bytes) {
        std::size_t done = 0;
        while (done < bytes.size() && !finished) {
            if (stream.avail_in == 0 && consumed < size) {
                refill();
            }
            const auto room =
                static_cast<uInt>(std::min<std::size_t>(bytes.size() - done, 1u << 30));
            stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + done);
            stream.avail_out = room;
            const int status = inflate(&stream, Z_NO_FLUSH);
            done += room - stream.avail_out;
            if (status == Z_STREAM_END) {
                finished = true;
            } else if (status == Z_BUF_ERROR && stream.avail_in == 0 && consumed >= size) {
                fail("the compressed data ends early, at byte " + format_thousands(size) +
                     " of the file and " +
                     format_thousands(produced + static_cast<std::int64_t>(done)) +
                     " of the decompressed data");
            } else if (status != Z_OK) {
                const std::int64_t place = consumed - static_cast<std::int64_t>(stream.avail_in);
                fail("the compressed data is damaged near byte " + format_thousands(place) + " (" +
                     (stream.msg != nullptr ? stream.msg : "zlib error " + std::to_string(status)) +
                     ")");
            }
        }
        return done;
    }
};

InputFile::InputFile(const Path& path) : state_(std::make_unique<State>()) {
    State& state = *state_;
    state.file = File(path, File::Mode::read, ErrorKind::data);
    state.size = state.file.size();
    std::array<std::byte, 2> magic{};
    if (state.size >= 2) {
        state.file.read_at(magic, 0);
    }
    state.compressed = magic[0] == std::byte{0x1f} && magic[1] == std::byte{0x8b};
    if (state.compressed) {
        state.chunk.resize(kChunkBytes);
        // 16 asks zlib for the gzip wrapper, with its checksum.
        WEFT_CHECK(inflateInit2(&state.stream, 16 + MAX_WBITS) == Z_OK, "zlib starts");
    }
}

InputFile::~InputFile() {
    if (state_->compressed) {
        inflateEnd(&state_->stream);
    }
}

const Path& InputFile::path() const {
    return state_->file.path();
}

std::int64_t InputFile::most_bytes() const {
    if (!state_->compressed) {
        return state_->size;
    }
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    return state_->size > kMost / kBestRatio - 1 ? kMost : (state_->size + 1) * kBestRatio;
}

void InputFile::read(std::span<std::byte> bytes, const char* what) {
    State& state = *state_;
    const auto wanted = static_cast<std::int64_t>(bytes.size());
    if (state.compressed) {
        const auto done = static_cast<std::int64_t>(state.inflate_into(bytes));
        if (done < wanted) {
            state.fail("the decompressed data ends at byte " +
                       format_thousands(state.produced + done) + "; its " + what +
                       " reach to byte " + format_thousands(state.produced + wanted));
        }
    } else {
        if (wanted > state.size - state.consumed) {
            state.fail("the file ends at byte " + format_thousands(state.size) + "; its " + what +
                       " reach to byte " + format_thousands(state.consumed + wanted));
        }
        state.file.read_at(bytes, state.consumed);
        state.consumed += wanted;
    }
    state.produced += wanted;
}

void InputFile::expect_end() {
    State& state = *state_;
    if (!state.compressed) {
        if (state.consumed != state.size) {
            state.fail("the file has " + format_thousands(state.size) +
                       " bytes; its header announces " + format_thousands(state.consumed));
        }
        return;
    }
    std::array<std::byte, 1> extra{};
    if (state.inflate_into(extra) != 0) {
        state.fail("more than the " + format_thousands(state.produced) +
                   " bytes that its header announces come out of the compressed data");
    }
    if (state.stream.avail_in != 0 || state.consumed != state.size) {
        state.fail("something follows the compressed data");
    }
}

} // namespace weft::data
