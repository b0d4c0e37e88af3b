// SPDX-License-Identifier: Apache-2.0
// Tokens in files, read piece by piece, as samples of a language model. The files are one run of
// tokens; sample i is the window of T + 1 tokens that starts at token i * T, as text_windows.h has
// it of bytes in memory.
#pragma once

#include "core/base/file.h"
#include "core/data/dataset.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft::data {

/// Bytes of a token, low byte first.
enum class TokenWidth : std::uint8_t { byte = 1, two = 2, four = 4 };

struct TokenFile {
    Path path;
    std::int64_t offset = 0; // of the first token
    std::int64_t tokens = 0;
};

struct TokenRun {
    std::vector<TokenFile> files = {};
    TokenWidth width = TokenWidth::two;

    std::int64_t tokens() const;
};

/// Nothing of the files is kept. `in_blocks`: they are read block by block. A token that is not
/// below info.classes is refused where it is met. `fingerprint`: of names and sizes; a checksum of
/// either end is added. Throws weft::Error{data} when a file cannot be read.
std::shared_ptr<const Source> token_windows(TokenRun run, std::int64_t length, SampleInfo info,
                                            std::string fingerprint, bool in_blocks);

/// Samples of the largest block of token_windows.
std::int64_t largest_token_block(const TokenRun& run, std::int64_t length);

} // namespace weft::data
