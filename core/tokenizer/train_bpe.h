// SPDX-License-Identifier: Apache-2.0
// A byte-level BPE learnt from a corpus.
#pragma once

#include "core/tokenizer/tokenizer.h"

#include <functional>
#include <stop_token>

namespace weft::tokenizer {

struct TrainOptions {
    std::int64_t size = 8192;         // tokens in all: added ones, 256 bytes, merges
    std::int64_t fewest = 2;          // times that a pair must come to be merged
    std::vector<std::string> added{}; // tokens of their own, in their order: "<|endoftext|>"
};

/// Learns merges from texts, greedily: the pair of neighbours within a piece (kGpt2Pattern) that
/// comes most often, of equal ones that with the lower tokens; the tokenizer is that of GPT-2 and
/// equal to what the library tokenizers of Hugging Face makes of the same texts. A corpus with few
/// pairs gives fewer tokens. `next` appends a text to its argument and says whether there was one.
/// Throws weft::Error{usage} for a size that does not hold the bytes, weft::Error{runtime} when it
/// is stopped.
std::shared_ptr<const Tokenizer>
train_bpe(const TrainOptions& options, const std::function<bool(std::string& text)>& next,
          const std::stop_token& stop = {},
          const std::function<void(std::int64_t tokens)>& progress = {});

/// A tokenizer.json that has learnt nothing: its tokens are the bytes, by their values.
std::string byte_document();

} // namespace weft::tokenizer
