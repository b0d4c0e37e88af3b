// SPDX-License-Identifier: Apache-2.0
// Images made by libjpeg and libpng, and folders of them.
#pragma once

#include "core/data/files/image_codec.h"

#include <string>
#include <vector>

namespace weft::data::test {

/// An image of one colour, in which nothing that a codec loses matters.
Image plain_image(std::int64_t width, std::int64_t height, std::vector<std::uint8_t> colour);

/// One channel: grey; three: RGB; four: CMYK as Adobe stores it, inverted.
std::string jpeg_bytes(const Image& image);
/// One channel: grey; three: RGB; four: RGBA.
std::string png_bytes(const Image& image);

} // namespace weft::data::test
