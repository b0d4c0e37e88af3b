// SPDX-License-Identifier: Apache-2.0
// What the adapter_config.json of PEFT, another program's low-rank factors (Hugging Face,
// "LoraConfig"), says of them.
#pragma once

#include "core/config/json.h"

#include <cstdint>
#include <string>

namespace weft::nn {

inline constexpr const char* kPeftConfigName = "adapter_config.json";
inline constexpr const char* kPeftArraysName = "adapter_model.safetensors";

struct PeftConfig {
    std::int64_t rank = 0;
    double alpha = 0.0; // the product counts alpha / rank times: of rank-stabilised factors theirs
                        // times the root of the rank (Kalajdzievski 2023)
};

/// Throws weft::Error{checkpoint} at `where` for what is no plain pair of factors per layer: other
/// methods, trained biases or whole layers, weights taken apart (DoRA), ranks that differ.
PeftConfig read_peft_config(const config::Json& document, const std::string& where);

} // namespace weft::nn
