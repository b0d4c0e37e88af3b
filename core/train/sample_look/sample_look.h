// SPDX-License-Identifier: Apache-2.0
// What the layers of a model made of one sample, and the weights of its attention. Plain numbers.
#pragma once

#include "core/ir/type.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::train {

/// What a layer puts out.
struct LayerLook {
    std::string layer;           // its path: "blocks.0.mlp.up"
    std::string kind;            // what it does: "linear, gelu"
    ir::Shape shape;             // of a sample: a picture [H, W, C], positions [T, C], units [C]
    std::vector<float> values{}; // dense, row-major
};

/// The operands of an attention op: T queries of H heads, S keys and values of K heads, each D
/// wide. Query head h reads key head h / (H / K).
struct AttentionLook {
    std::string layer;
    std::int64_t queries = 0, keys = 0, heads = 0, key_heads = 0, width = 0;
    double scale = 1;                  // of the scores
    std::vector<float> q{}, k{}, v{};  // [T, H, D], [S, K, D], [S, K, D]
    std::vector<float> out{};          // [T, H, D], as the kernel made it
    std::vector<std::int64_t> first{}; // [T]: a query sees the keys from here ...
    std::vector<std::int64_t> end{};   // ... to before here

    bool sees(std::int64_t query, std::int64_t key) const {
        return key >= first[static_cast<std::size_t>(query)] &&
               key < end[static_cast<std::size_t>(query)];
    }
    /// Whether a query does not see some key.
    bool is_masked() const;
    /// [T, S]: softmax(q k^T scale) over the keys that a query sees (Vaswani et al. 2017, equation
    /// 1), 0 at the others. In f32, rows summed in f64.
    std::vector<float> weights(std::int64_t head) const;
    /// [T, S]: the mean over all heads.
    std::vector<float> mean_weights() const;
};

/// Where the keys lie on a picture: `rows` x `columns` patches, row by row, behind `before` others
/// (a class token).
struct PatchGrid {
    std::int64_t rows = 0, columns = 0, before = 0;
};

struct SampleLook {
    std::vector<LayerLook> layers{};        // in the order they ran
    std::vector<AttentionLook> attention{}; // likewise
    std::optional<PatchGrid> patches{};     // of a model that attends to parts of a picture
    std::vector<std::int32_t> tokens{};     // of a text: positions are those
    ir::Type input{};
    std::vector<std::byte> sample{}; // as the model took it; empty of a text

    /// Leaves the first `positions` of `all` that a text fills.
    void cut(std::int64_t all, std::int64_t positions);
};

} // namespace weft::train
