// SPDX-License-Identifier: Apache-2.0
// Models of SentencePiece (Kudo and Richardson 2018): unigram or BPE over text in which spaces are
// characters, by the library of that name.
#pragma once

#include "core/tokenizer/tokenizer.h"

namespace weft::tokenizer {

/// Text is normalised first, as the model says, so that it may come back changed; so may bytes that
/// are no UTF-8.
class SentencePiece : public Tokenizer {
public:
    /// As encode, of a text that goes on where another one ended with a line: nothing is put before
    /// it where the model does so at the begin.
    virtual void encode_further(std::string_view text, std::vector<Token>& out) const = 0;
    /// What the library makes of tokens together: without the space that was put before the text.
    virtual std::string decode_together(std::span<const Token> tokens) const = 0;
};

/// Whether a document is a model of SentencePiece rather than a tokenizer.json.
bool is_sentencepiece(std::string_view document);

/// Throws weft::Error{data} at `where` for what is damaged, or says what the library would not
/// survive.
std::shared_ptr<const SentencePiece> read_sentencepiece(std::string model,
                                                        const std::string& where);

} // namespace weft::tokenizer
