// SPDX-License-Identifier: Apache-2.0
// Low-rank adapters (Hu et al. 2021): a linear layer keeps its weight and learns a product of two
// narrow matrices that is added to it, y = x W + (alpha / rank) dropout(x) A B. Names, start values
// and scale are those of PEFT, whose adapters are these transposed.
#pragma once

#include "core/config/json.h"
#include "core/ir/value_ids.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::nn {

class ModelContext; // core/nn/model_context.h

struct Lora {
    std::int64_t rank = 0;
    double alpha = 0.0;
    double dropout = 0.0;             // of the layer's input on its way to A, while training
    std::vector<std::string> targets; // patterns of names of weights
    bool save_base = true;            // checkpoints hold what is not trained

    double scale() const { return alpha / static_cast<double>(rank); }
    bool adapts(std::string_view weight) const;
};

/// The member "lora" of the section "init" of a run; nullopt: null, or absent as in older runs.
std::optional<Lora> lora_settings(const config::Json& init);

/// Tensors of the scope "lora" inside the layer's: A [in, rank] starts as a weight of a linear
/// layer does (Kaiming uniform with a = sqrt(5)), B [rank, out] at zero, so that the layer starts
/// as it was.
inline constexpr std::string_view kLoraA = "a";
inline constexpr std::string_view kLoraB = "b";

/// "blocks.0.mlp.up.lora.a" and ".b" of "blocks.0.mlp.up.weight".
std::string lora_name(std::string_view weight, std::string_view factor);
/// The weight that a factor is for: "blocks.0.mlp.up.weight". Nullopt: the name is no factor's.
std::optional<std::string> adapted_by(std::string_view factor);

/// What the adapter of the current scope's "weight" [in, out] adds to y [..., out] of x [..., in];
/// y itself where there is none. `axes`: the logical axes of the weight.
ir::ValueId with_adapter(ModelContext& context, ir::ValueId x, ir::ValueId y,
                         const std::vector<std::string>& axes);

} // namespace weft::nn
