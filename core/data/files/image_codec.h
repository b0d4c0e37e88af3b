// SPDX-License-Identifier: Apache-2.0
// PNG and JPEG files as 8-bit pixels, whatever their colour mode: grey, palette, 16 bits, alpha,
// CMYK; pixels as PNG. The codecs are libpng's and libjpeg's. Pure functions of the bytes; any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::data {

/// Pixels by rows, `channels` bytes each.
struct Image {
    std::int64_t height = 0, width = 0, channels = 0;
    std::vector<std::uint8_t> pixels;
};

struct ImageHeader {
    std::int64_t height = 0, width = 0; // as it is shown: a camera's orientation is applied
    bool grey = false;                  // without colour
};

struct DecodeOptions {
    std::int64_t channels = 3; // 1: luma of ITU-R BT.601; 3: red, green, blue
    int background = 255;      // shows through where alpha is below 255, in every channel
    /// A JPEG of more than twice this size may come out smaller, but never below twice this size.
    std::int64_t least_height = 1 << 30, least_width = 1 << 30;
};

/// Whether the first bytes of a file are those of a PNG or JPEG.
bool looks_like_image(std::span<const std::byte> head);

/// `name` is for messages. Both throw weft::Error{data} for what is damaged, cut off, or larger
/// than 100 million pixels.
ImageHeader read_image_header(std::span<const std::byte> file, const std::string& name);
Image decode_image(std::span<const std::byte> file, const std::string& name,
                   const DecodeOptions& options);

/// A PNG file of pixels with one channel or three.
std::string encode_png(const Image& image);

} // namespace weft::data
