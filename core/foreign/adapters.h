// SPDX-License-Identifier: Apache-2.0
// The low-rank factors of a saved model (core/nn/layers/lora.h): added to the weights that they are
// for, or on their own as PEFT reads them.
#pragma once

#include "core/foreign/write_model.h"
#include "core/nn/layers/lora.h"

namespace weft::foreign {

/// The same model without factors: W + scale A B, in f32, in place of each weight W that has some.
/// Throws weft::Error{checkpoint} where factors do not belong to a weight of the source.
Arrays merged(const Arrays& source, double scale);

/// The factors of a folder that `peft` wrote, for a model of ours of the type `model`: A [in, rank]
/// and B [rank, out] of each layer under our names, f32; what is for no layer that we name keeps
/// its name there. Throws weft::Error{checkpoint}: it is no such folder, or has another rank or
/// scale than `lora`.
Arrays open_peft(const std::filesystem::path& folder, std::string_view model, const nn::Lora& lora);

/// A folder that `peft` loads onto the model of transformers: adapter_config.json and
/// adapter_model.safetensors. `base`: where that model is, empty where nobody knows. `stored` is no
/// q8_0. Throws weft::Error{usage}: there are no factors, one is for a layer without a name there,
/// or layers of the family have no lasting names; weft::Error{checkpoint} where it cannot be
/// written.
void write_peft(const std::filesystem::path& folder, const Family& family, const Arrays& source,
                const nn::Lora& lora, const std::string& base, StoredAs stored,
                const checkpoint::Progress& progress = {});

} // namespace weft::foreign
