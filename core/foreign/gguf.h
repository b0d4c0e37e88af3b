// SPDX-License-Identifier: Apache-2.0
// GGUF, the file of llama.cpp and its like: metadata, then tensors by ggml's names.
#pragma once

#include "core/foreign/write_model.h"

namespace weft::foreign {

/// Writes a gpt2 or llama model (`model`: the "model" section of its run), without a tokenizer,
/// which is told by tokenizer.ggml.model = "none". Matrices are stored as asked; vectors and the
/// table of positions always as f32, and rows whose length is no multiple of 32 as f16 where q8_0
/// is asked: ggml's own rules. Throws weft::Error{usage} for a model that GGUF has no name for,
/// weft::Error{checkpoint} where it cannot be written.
void write_gguf(const std::filesystem::path& file, const Arrays& source, const Json& model,
                const std::string& name, StoredAs stored,
                const checkpoint::Progress& progress = {});

} // namespace weft::foreign
