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

/// What a person saw and what it was to become.
struct AnnotationChange {
    Annotations before;
    Annotations after;

    AnnotationChange reversed() const { return {after, before}; }
};

/// Writes what a change is about, each tag by itself, and leaves the rest as it lies there: what
/// others, of other processes too, wrote since `before` was read, and keys that this version does
/// not know. Returns what is written now. Throws weft::Error{runtime}.
Annotations change_annotations(const std::filesystem::path& run, const AnnotationChange& change);
/// "lr sweep, baseline" -> two tags: parted by commas, trimmed, each once.
std::vector<std::string> parse_tags(std::string_view text);

} // namespace weft::train
