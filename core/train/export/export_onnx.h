// SPDX-License-Identifier: Apache-2.0
// The model of a checkpoint as an ONNX file.
#pragma once

#include "core/checkpoint/checkpoint.h"

namespace weft::train {

/// With the weights that the run was measured with. The data that the run names tell the shape of a
/// sample. Throws weft::Error: of the data, of the disk, of what has no translation.
void export_onnx(const std::filesystem::path& file, const checkpoint::Manifest& manifest);

} // namespace weft::train
