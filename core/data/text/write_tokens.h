// SPDX-License-Identifier: Apache-2.0
// A text as files of tokens, which a run reads piece by piece; and a tokenizer learnt from a text.
#pragma once

#include "core/data/dataset.h"
#include "core/tokenizer/train_bpe.h"

#include <filesystem>

namespace weft::data {

struct WrittenTokens {
    std::int64_t text_bytes = 0;
    std::int64_t tokens = 0;
    std::int64_t files = 0;
};

/// Writes the tokens of a text file, or of all files of a folder, by context.tokenizer: a folder
/// `to` with 00000.bin and further ones of 2^28 tokens, u16 where the vocabulary allows,
/// tokens.json
/// {"dtype", "vocab", "tokens"} and the tokenizer.json. Memory does not grow with the text. The
/// folder is there when it is complete. Throws weft::Error{usage} where `to` is there already,
/// {data} for a text that cannot be read, {runtime} of the disk or once context.stop is asked for.
WrittenTokens write_tokens(const std::filesystem::path& text, const OpenContext& context,
                           const std::filesystem::path& to);

/// Learns from the lines of a text file, or of all files of a folder; `progress` hears the tokens
/// so far. Throws what tokenizer::train_bpe throws, and weft::Error{data}.
std::shared_ptr<const tokenizer::Tokenizer>
learn_tokenizer(const std::filesystem::path& text, const tokenizer::TrainOptions& options,
                const OpenContext& context, const std::function<void(std::int64_t)>& progress);

} // namespace weft::data
