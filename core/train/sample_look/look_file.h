// SPDX-License-Identifier: Apache-2.0
// What was seen of a sample as arrays for NumPy.
#pragma once

#include "core/train/sample_look/sample_look.h"

#include <filesystem>

namespace weft::train {

/// A .npz of f32 arrays: "layers/<path>" as LayerLook::shape says, "attention/<path>" [H, T, S];
/// "sample" as the model took it, or "tokens" i32 [T] of a text. Of a layer that attends several
/// times "<path>#2" and so on. Throws weft::Error as files that cannot be written do.
void write_look(const SampleLook& look, const std::filesystem::path& file);

} // namespace weft::train
