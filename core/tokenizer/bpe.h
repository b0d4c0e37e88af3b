// SPDX-License-Identifier: Apache-2.0
// Byte pair encoding (Sennrich et al. 2016): pieces of bytes become tokens by merging, of all pairs
// of neighbours, the one that was learnt first, again and again.
#pragma once

#include "core/tokenizer/tokenizer.h"

#include <array>
#include <unordered_map>
#include <utility>

namespace weft::tokenizer {

struct Merge {
    Token left = 0;
    Token right = 0;
    Token result = 0;
};

class Bpe {
public:
    /// `bytes[b]` is the token of byte b; merges in the order in which they were learnt.
    Bpe(const std::array<Token, 256>& bytes, const std::vector<Merge>& merges);

    /// Appends the tokens of a piece: the lowest rank first, of equal ones the leftmost. Near to
    /// linear in the length.
    void encode(std::string_view piece, std::vector<Token>& out) const;

private:
    struct Rank {
        std::int32_t rank = 0;
        Token result = 0;
    };
    static std::uint64_t key(Token left, Token right) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
               static_cast<std::uint32_t>(right);
    }
    void merge(std::vector<Token>& tokens) const;

    std::array<Token, 256> bytes_;
    std::unordered_map<std::uint64_t, Rank> ranks_;
};

} // namespace weft::tokenizer
