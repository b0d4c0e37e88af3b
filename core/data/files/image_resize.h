// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/data/files/image_codec.h"

namespace weft::data {

/// A part of an image, in pixels from its upper left corner.
struct ImageBox {
    double x = 0, y = 0, width = 0, height = 0;
};

/// `box` of `image` at another size, by triangle filters as wide as the reduction asks for:
/// bilinear where it grows, antialiased where it shrinks (the BILINEAR of Pillow's resize, to
/// within one level). `out`: height * width * image.channels bytes.
void resize_image(const Image& image, const ImageBox& box, std::int64_t height, std::int64_t width,
                  std::span<std::uint8_t> out);

} // namespace weft::data
