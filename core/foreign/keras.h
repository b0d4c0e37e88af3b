// SPDX-License-Identifier: Apache-2.0
// Weights as Keras 3 keeps them in a `.weights.h5` (keras/src/saving/saving_lib.py: H5IOStore):
// "layers/<class>/vars/<n>", layers of one class counted in the order of the model ("dense",
// "dense_1", ...). Whoever builds the same layers in the same order loads it with load_weights().
#pragma once

#include "core/config/json.h"
#include "core/foreign/arrays.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weft::foreign {

/// Where an array goes in such a file.
struct KerasVariable {
    std::string path; // "layers/dense/vars/0"
    std::size_t array = 0;
};

/// The places of a model's arrays, which are in the order of its layers. A layer is what stands
/// before the last '.' of a name; its class follows from what it holds: weight [in, out] and bias:
/// Dense; weight [kh, kw, in, out]: Conv2D; weight, bias and running statistics:
/// BatchNormalization; weight [C] with or without bias: LayerNormalization or RMSNormalization; a
/// table of the model's settings ("embedding") or of GPT-2 ("wte", "wpe"): Embedding. Their layouts
/// are Keras's. Throws weft::Error{checkpoint} for what no layer of Keras holds.
std::vector<KerasVariable> keras_layout(const std::vector<Array>& arrays,
                                        const config::Json& model);

/// Written beside and renamed into place, every number as f32. `weights` lists its arrays in the
/// order of the layers. Throws weft::Error{checkpoint}.
void write_keras(const std::filesystem::path& file, const Arrays& weights,
                 const config::Json& model);

} // namespace weft::foreign
