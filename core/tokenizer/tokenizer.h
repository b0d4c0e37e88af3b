// SPDX-License-Identifier: Apache-2.0
// Text as the numbers that a language model reads, and back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tokenizer {

using Token = std::int32_t;

/// Thread-safe: nothing changes once it is made.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;
    /// Tokens are 0 to size - 1.
    virtual std::int64_t size() const = 0;
    /// Appends the tokens of a text, which may be any bytes.
    virtual void encode(std::string_view text, std::vector<Token>& out) const = 0;
    /// Appends the bytes of a token; of one beyond the vocabulary none. A character may be made of
    /// several tokens.
    virtual void decode(Token token, std::string& out) const = 0;
    /// "bytes", "byte-level BPE of 50,257 tokens".
    virtual std::string description() const = 0;
    /// A tokenizer.json that makes this one again; empty: the bytes themselves.
    virtual const std::string& document() const = 0;

    std::vector<Token> encoded(std::string_view text) const;
    std::string decoded(std::span<const Token> tokens) const;
};

/// Every byte is a token.
std::shared_ptr<const Tokenizer> byte_tokenizer();

/// A tokenizer.json as the library tokenizers of Hugging Face writes it: byte-level BPE, as GPT-2,
/// Llama 3 and Qwen have it. Throws weft::Error{data}, naming `where` and the member, for what it
/// is not, or asks for what is not here; never gives tokens that another program would not.
std::shared_ptr<const Tokenizer> read_tokenizer(std::string document, const std::string& where);

/// Of a file, or of the tokenizer.json in a folder. Throws weft::Error{data}.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& path);

} // namespace weft::tokenizer
