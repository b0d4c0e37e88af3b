// SPDX-License-Identifier: Apache-2.0
// Texts as tokens.
#pragma once

#include "core/data/dataset.h"
#include "core/tokenizer/tokenizer.h"

#include <functional>
#include <string_view>

namespace weft::data {

/// Whether a text is one, or goes on where another one ended with a line.
enum class TextStart : std::uint8_t { of_text, further };

struct EncodedText {
    std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
    std::int64_t bytes = 0; // of text
    std::vector<tokenizer::Token> tokens;
};

/// The tokens of a text by context.tokenizer, whose progress context.on_opening hears. Encoded on
/// all cores in stretches of a MiB that end with a line, before one that begins with no white
/// space: the patterns of known tokenizers have an end there, so that the tokens are those of the
/// whole, as are those of models of SentencePiece whose pieces hold no line end within. Throws
/// weft::Error{runtime} once context.stop is asked for.
EncodedText encode_text(std::string_view text, const OpenContext& context, const std::string& name,
                        TextStart start = TextStart::of_text);

/// The last place in a text, but its end, where a stretch may end; 0: there is none.
std::size_t last_stretch_end(std::string_view text);

/// Whether texts are more than their bytes.
bool encodes(const OpenContext& context);

/// What a fingerprint says of the tokenizer.
std::string tokenizer_mark(const OpenContext& context);

/// What "data.tokenizer" names: "bytes", a tokenizer.json, a model of SentencePiece, or a folder
/// with one. Null of null: the format's own way. A file is read again when it is not what it was.
/// Throws weft::Error{data}.
std::shared_ptr<const tokenizer::Tokenizer> tokenizer_of(const config::Json& setting,
                                                         const std::filesystem::path& base_dir);

/// The same of a path that is there.
std::shared_ptr<const tokenizer::Tokenizer> known_tokenizer(const std::filesystem::path& path);

/// What a section that was checked makes tokens of text with, for others to name: "bytes", or the
/// path of a tokenizer; empty: nobody said what text the tokens are.
std::string named_tokenizer(const config::Json& data_section,
                            const std::filesystem::path& base_dir);

/// The tokenizer that lies beside files of tokens, or a file of them; empty: there is none.
std::filesystem::path tokenizer_beside(const std::filesystem::path& tokens);

} // namespace weft::data
