// SPDX-License-Identifier: Apache-2.0
// The image files below a folder and their classes: one folder per class, images at any depth
// below.
#pragma once

#include "core/data/files/image_codec.h"
#include "core/data/opening.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weft::data {

struct ImageFiles {
    std::filesystem::path root;           // paths below count from here
    std::vector<std::string> paths;       // sorted
    std::vector<std::int32_t> labels;     // -1: of no class
    std::vector<std::string> class_names; // sorted
    Notes notes;                          // what was passed over
};

/// The first folder of a path of the list, which names its class; empty for a file right in the
/// root.
std::string class_folder(const std::string& relative);

enum class ImagePart : std::uint8_t { train, validation, test };

/// Where a folder keeps that part: `path` itself for train when there is no folder "train";
/// otherwise train, val or valid or validation, test. Empty: there is none. A folder that holds
/// nothing but one folder is that folder, unless that one is of a class in `class_names` (sorted).
std::filesystem::path part_folder(const std::filesystem::path& path, ImagePart part,
                                  const std::vector<std::string>* class_names = nullptr);

/// Lists a folder; a file is a list of one. Hidden files and what is no PNG or JPEG by name are
/// passed over. `class_names`: those of training; null: the folders found. Throws weft::Error{data}
/// when the folder cannot be read.
ImageFiles list_images(const std::filesystem::path& path,
                       const std::vector<std::string>* class_names);

/// Size and channels for images that differ: see the fields "size" and "channels".
struct ImageShapeChoice {
    std::int64_t height = 0, width = 0, channels = 0;
    bool all_alike = false; // the images looked at have this very size
};

/// By the headers of up to 100 images, spread over the list. Throws weft::Error{data} when none of
/// them can be read.
ImageShapeChoice choose_shape(const ImageFiles& files);

} // namespace weft::data
