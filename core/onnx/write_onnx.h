// SPDX-License-Identifier: Apache-2.0
// ONNX files.
#pragma once

#include "core/onnx/onnx.h"

#include <filesystem>
#include <functional>

namespace weft::onnx {

/// The bytes of a weight.
using ReadWeight = std::function<std::string(const Port& weight)>;

/// Writes a graph with its weights, which are asked for one after the other. `about` are facts for
/// people. Throws weft::Error{usage} for one beyond the 2 GiB of a protocol buffer, what `read`
/// throws, and weft::Error{runtime} of the disk; the file is then as it was.
void write_onnx(const std::filesystem::path& file, const Graph& graph,
                const std::map<std::string, std::string>& about, const ReadWeight& read);

} // namespace weft::onnx
