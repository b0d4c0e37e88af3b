// SPDX-License-Identifier: Apache-2.0
// Text from a language model: prefill the prompt once, or decode it where it is short, then decode
// token by token with the key/value cache. When the context is full, the newer half of it becomes
// the new prompt. A graph has no cache: each token takes a prefill, and the context slides by one.
#pragma once

#include "core/data/dataset.h"
#include "core/exec/executor.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace weft::train {

struct GenerateOptions {
    std::int64_t tokens = 200;
    double temperature = 0.8; // 0: always the most probable token
    std::int64_t top_k = 0;   // choose among the k most probable; 0: all
    std::uint64_t seed = 0;   // the same seed, prompt and weights give the same text
};

/// Calls `emit` with each new token; ends early when it returns false. Throws weft::Error{usage}
/// when the model cannot generate, a graph looks at later tokens, or the prompt is empty or holds a
/// token outside the vocabulary.
void generate(exec::Executor& executor, std::span<const std::int32_t> prompt,
              const GenerateOptions& options, const std::function<bool(std::int32_t)>& emit);

/// The tokens to go on from: those of the text, or of a line break where it is empty. Throws
/// weft::Error{usage} where nobody knows what the data's tokens are.
std::vector<std::int32_t> prompt_tokens(const data::SampleInfo& info, std::string_view text);

/// The token that `draw` in [0, 1) picks from logits under temperature and top_k. Pure.
std::int32_t pick_token(std::span<const float> logits, double temperature, std::int64_t top_k,
                        double draw);

} // namespace weft::train
