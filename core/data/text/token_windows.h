// SPDX-License-Identifier: Apache-2.0
// A run of tokens that is read piece by piece, as samples of a language model. Sample i is the
// window of T + 1 tokens that starts at token i * T, as text_windows.h has it of bytes in memory.
#pragma once

#include "core/base/file.h"
#include "core/data/dataset.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft::data {

/// Bytes of a token, low byte first.
enum class TokenWidth : std::uint8_t { byte = 1, two = 2, four = 4 };

/// Any thread.
class TokenRun {
public:
    virtual ~TokenRun() = default;
    virtual TokenWidth width() const = 0;
    virtual std::int64_t tokens() const = 0;
    /// As many as fill `out`, from `first` on. Throws weft::Error{data}.
    virtual void read(std::int64_t first, std::span<std::byte> out) const = 0;
    /// "shard.bin, token 40"
    virtual std::string place_of(std::int64_t token) const = 0;
};

struct TokenFile {
    Path path;
    std::int64_t offset = 0; // of the first token
    std::int64_t tokens = 0;
};

/// The tokens of all files, one after the other. A file is open while it is read only: there may be
/// many.
std::shared_ptr<const TokenRun> run_of_files(std::vector<TokenFile> files, TokenWidth width);

/// Nothing of the run is kept. `in_blocks`: it is read block by block. A token that is not below
/// info.classes is refused where it is met. A checksum of either end is added to `fingerprint`.
/// Throws weft::Error{data} when the run cannot be read.
std::shared_ptr<const Source> token_windows(std::shared_ptr<const TokenRun> run,
                                            std::int64_t length, SampleInfo info,
                                            const std::string& fingerprint, bool in_blocks);

/// Samples of the largest block of token_windows, of so many tokens.
std::int64_t largest_token_block(std::int64_t tokens, TokenWidth width, std::int64_t length);

} // namespace weft::data
