// SPDX-License-Identifier: Apache-2.0
// A checkpoint's arrays as files that other programs read: safetensors (PyTorch, JAX, candle, …)
// and NumPy's npz. Written beside and renamed into place.
#pragma once

#include "core/checkpoint/safetensors.h"

namespace weft::checkpoint {

enum class ExportWhat : std::uint8_t {
    weights,    // parameters and running statistics: what a model is
    everything, // optimizer state too
};

/// The arrays that are exported, by name. `manifest` must outlive them.
std::vector<ArrayToWrite> exported(const Manifest& manifest, ExportWhat what);

/// Every element type as it is; step, metrics and the model of the manifest go into the metadata as
/// texts. Throws weft::Error{checkpoint}: an array that cannot be read, a full disk.
void export_safetensors(const Manifest& manifest, std::vector<ArrayToWrite> arrays,
                        const std::filesystem::path& file, const Progress& progress = {});
/// A zip archive, not compressed, with one .npy file for each array. NumPy has no bf16: such arrays
/// become f32, which holds the same values. Throws like export_safetensors.
void export_npz(const std::vector<ArrayToWrite>& arrays, const std::filesystem::path& file,
                const Progress& progress = {});

} // namespace weft::checkpoint
