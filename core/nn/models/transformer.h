// SPDX-License-Identifier: Apache-2.0
// What transformer models share: attention with its key/value caches, and the pre-norm block with
// biases of GPT-2 and ViT. Shape letters: B samples, T positions, C width, H query heads, K key and
// value heads, D head width.
#pragma once

#include "core/nn/layers/layer_def.h"
#include "core/nn/models/experts.h"

#include <string>

namespace weft::nn {

/// What a language model reads: ids [B, T], and where several sequences are packed into a sample
/// the position of each in its own [B, T].
struct Tokens {
    ir::ValueId ids, positions;
};

/// Of inputs [B, T], or [B, 2, T] with positions behind the ids. Throws weft::Error{usage} unless T
/// is within the context of `most` and the data's vocabulary within `vocab`.
Tokens tokens_of(ModelContext& context, std::string_view model, std::int64_t most,
                 std::int64_t vocab, ir::ValueId inputs);

struct AttentionSettings {
    bool causal = true;
    std::int64_t context = 0; // positions of the key/value caches; decode only
    double dropout = 0.0;     // of the probabilities, while training
    ir::ValueId positions = {}; // of packed sequences, [B, T]; valid: they stay apart
};

/// q [B, T, H, D], k and v [B, T, K, D] -> [B, T, H D], scores divided by sqrt(D). In decode mode
/// keys and values go through the caches "keys" and "values" of the current scope.
ir::ValueId attend(ModelContext& context, const AttentionSettings& settings, ir::ValueId q,
                   ir::ValueId k, ir::ValueId v);

/// Logical axis of a dimension that holds whole heads of this width, several equal parts of them
/// (query, key, value) one after the other.
std::string heads_axis(const char* name, std::int64_t head_width, std::int64_t parts = 1);

/// Normal 0.02, and the same divided by sqrt(2 layers) for weights before a residual sum, so that
/// the sums do not grow with depth (Radford et al. 2019).
Init transformer_init();
Init residual_init(std::int64_t layers);

struct BlockSettings {
    std::int64_t layers, width, heads, mlp;
    double dropout, norm_eps;
    std::string_view gelu; // op of the activation
    AttentionSettings attention;
    ExpertSettings experts = {};
};

/// x + attention(norm1(x)), then x + mlp(norm2(x)), x [B, T, C]. Tensors of the current scope:
/// norm1, attention.qkv [C, 3C], attention.output, norm2, mlp.up [C, mlp], mlp.down; each weight
/// and bias. With experts: mlp.router, mlp.experts.up, mlp.experts.down; weights alone.
ir::ValueId transformer_block(ModelContext& context, const BlockSettings& settings, ir::ValueId x);

} // namespace weft::nn
