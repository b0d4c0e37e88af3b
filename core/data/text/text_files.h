// SPDX-License-Identifier: Apache-2.0
// The files of a text.
#pragma once

#include "core/data/opening.h"

#include <filesystem>
#include <vector>

namespace weft::data {

/// Files of a folder and its subfolders by name. A link to a file that is there under its own name
/// is skipped, and so is every further name of the same file; links to folders are not followed.
/// `notes` hears what is skipped. Throws weft::Error{data} where the folder cannot be listed.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder, Notes& notes);

/// The file itself, or the files of a folder and its subfolders in the order in which they are
/// read, of which there is one. Throws weft::Error{data}.
std::vector<std::filesystem::path> text_files(const std::filesystem::path& path, Notes& notes);

} // namespace weft::data
