// SPDX-License-Identifier: Apache-2.0
// The files and folders that a "data" section names.
#pragma once

#include "core/config/field.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weft::data {

struct NamedFile {
    std::string pointer; // of the field that names it, within what was looked at: "/train/path"
    std::filesystem::path path;
};

/// Those of the normalised settings of one source. Relative ones count from `base`.
std::vector<NamedFile> named_files(const config::Json& source, const std::filesystem::path& base);

/// Those of all sources of a normalised section, object stores among them; pointers begin at it.
std::vector<NamedFile> files_of_section(const config::Json& section,
                                        const std::filesystem::path& base);

/// Those of a normalised section that are not there, or cannot be asked for, those in object stores
/// left out. Reads none of them.
std::vector<NamedFile> missing_files(const config::Json& section,
                                     const std::filesystem::path& base);

/// Throws weft::Error{data} where one of them is a pipe, a socket or a device: reading it would
/// wait or never end.
void refuse_devices(const config::Json& section, const std::filesystem::path& base);

} // namespace weft::data
