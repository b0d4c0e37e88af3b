// SPDX-License-Identifier: Apache-2.0
// What a person notes about a run afterwards: <run>/annotations.json, beside whatever the run wrote
// itself. It is the only copy: no index or cache holds more.
#pragma once

#include "core/config/field.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weft::train {

struct Annotations {
    std::vector<std::string> tags;
    std::string notes;
    bool archived = false; // hidden unless asked for

    friend bool operator==(const Annotations&, const Annotations&) = default;
};

/// Tags and notes of the run's configuration until somebody changed them. A damaged file counts as
/// none. Throws weft::Error{runtime} when it cannot be read.
Annotations read_annotations(const std::filesystem::path& run, const config::Json& config);
/// Replaces them atomically; keys that this version does not know stay. Throws
/// weft::Error{runtime}.
void write_annotations(const std::filesystem::path& run, const Annotations& annotations);
/// "lr sweep, baseline" -> two tags: parted by commas, trimmed, each once.
std::vector<std::string> parse_tags(std::string_view text);

} // namespace weft::train
