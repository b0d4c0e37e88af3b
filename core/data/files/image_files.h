// SPDX-License-Identifier: Apache-2.0
// The image files below a folder and their classes: one folder per class, images at any depth
// below; or the images in tar archives, where a file of the same name tells the class (WebDataset).
#pragma once

#include "core/data/files/image_codec.h"
#include "core/data/opening.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weft::data {

/// An image in an archive.
struct PackedImage {
    std::uint32_t archive = 0;
    std::int64_t offset = 0, bytes = 0;
    std::string class_name; // empty: none is told
};

struct ImageFiles {
    std::filesystem::path root;           // paths below count from here
    std::vector<std::string> paths;       // sorted; in an archive "a.tar/b.jpg", in its order
    std::vector<std::int32_t> labels;     // -1: of no class
    std::vector<std::string> class_names; // sorted
    Notes notes;                          // what was passed over
    std::vector<std::filesystem::path> archives;
    std::vector<PackedImage> packed; // one per path; empty: they are files of their own

    /// What names the class of an image; empty: nothing does.
    std::string class_of(std::size_t image) const;
    /// Puts one in the place of another that is left out.
    void move(std::size_t from, std::size_t to);
    void resize(std::size_t images);
    /// The bytes of an image, the first `most` of them. Throws weft::Error{data}.
    std::string read(std::size_t image, std::int64_t most) const;
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

/// Lists a folder; a file is a list of one, a tar archive one of what it holds, and so is a folder
/// with archives in it. Class numbers of archives get five digits. Hidden files and what is no PNG
/// or JPEG by name are passed over. `class_names`: those of training; null: the folders found.
/// Throws weft::Error{data} when the folder cannot be read.
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
