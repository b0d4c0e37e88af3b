// SPDX-License-Identifier: Apache-2.0
// The arrays of a model by name, wherever they lie: in a file, in the shards of an index, in a
// checkpoint. Nothing is read before it is asked for. Any thread, one at a time.
#pragma once

#include "core/ir/type.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::foreign {

struct Array {
    std::string name;
    std::optional<ir::Type> type; // none: of an element type that we do not have
    std::string text;             // "F16[768,3072]", for people
};

struct Arrays {
    std::filesystem::path path; // of the file or folder
    std::vector<Array> list;    // by name
    /// Fills `into`, which has the bytes of the array's type. Throws weft::Error{checkpoint}.
    std::function<void(const std::string& name, std::span<std::byte> into)> read;

    /// Null when there is none of this name.
    const Array* find(std::string_view name) const;
};

std::vector<std::byte> read_array(const Arrays& source, const Array& array);
/// Numbers of any float type as f32. Throws weft::Error{checkpoint}.
std::vector<float> read_floats(const Arrays& source, const Array& array);

/// A file of safetensors, one of ONNX, the index of several (`*.index.json`), or a folder that
/// holds one of them under the names of Hugging Face's: model.safetensors or
/// model.safetensors.index.json. Of an index every shard's table of contents is read: a shard that
/// is absent or elsewhere, an array that is nowhere or twice is named. Throws
/// weft::Error{checkpoint}.
Arrays open_weights(const std::filesystem::path& path);

/// Whether open_weights is for this path: by its name, or by what the folder holds.
bool is_weights(const std::filesystem::path& path);

} // namespace weft::foreign
