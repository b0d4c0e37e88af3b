// SPDX-License-Identifier: Apache-2.0
// An ONNX file as a model of ours and as a source of its weights.
#pragma once

#include "core/foreign/arrays.h"
#include "core/foreign/describe.h"

namespace weft::foreign {

/// By its name.
bool is_onnx(const std::filesystem::path& path);

/// Its float tensors, by the names and in the shapes of the file. Throws weft::Error{checkpoint}.
Arrays open_onnx(const std::filesystem::path& path);

/// The model of type `graph` that it is, and samples of the shape that it takes; what it has no
/// translation for is a problem. `positions`: of tokens, where the file takes any number of them;
/// 0: nobody said. Never throws for what the file holds.
ForeignModel read_onnx_model(const std::filesystem::path& path, std::int64_t positions = 0);

} // namespace weft::foreign
