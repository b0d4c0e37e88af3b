// SPDX-License-Identifier: Apache-2.0
// Files of weights in the safetensors format (huggingface/safetensors README "Format"), of any
// program. They come from strangers: the header is checked whole before a byte of an array is
// read.
#pragma once

#include "core/checkpoint/checkpoint.h"

#include <map>

namespace weft::checkpoint {

struct SafetensorsEntry {
    std::string name;
    std::string stored; // "F16": the element type as the file names it
    /// None for an element type that we do not have.
    std::optional<ir::Type> type;
    std::string shape;       // "[768,3072]", also where `type` is none
    std::int64_t offset = 0; // in the file
    std::int64_t bytes = 0;
};

struct SafetensorsFile {
    std::filesystem::path path;
    std::vector<SafetensorsEntry> tensors; // by name
    std::map<std::string, std::string> metadata;
    std::int64_t bytes = 0; // of the file

    /// Null when there is none of this name.
    const SafetensorsEntry* find(std::string_view name) const;
};

bool is_safetensors(const std::filesystem::path& path); // by the ending of its name

/// The table of contents. Throws weft::Error{checkpoint}: what is wrong, and where.
SafetensorsFile read_safetensors(const std::filesystem::path& path);
/// One array; `into` has the bytes of its type. Throws weft::Error{checkpoint}.
void read_safetensors_array(const SafetensorsFile& file, const SafetensorsEntry& entry,
                            std::span<std::byte> into);

/// An array that is to be written. Its bytes are made when its turn comes, and let go of after.
struct ArrayToWrite {
    std::string name;
    ir::Type type;
    std::function<std::vector<std::byte>()> bytes;
};
/// Written beside and renamed into place. Throws weft::Error{checkpoint}: a full disk.
void write_safetensors(const std::filesystem::path& file, std::vector<ArrayToWrite> arrays,
                       const std::map<std::string, std::string>& metadata,
                       const Progress& progress = {});

} // namespace weft::checkpoint
