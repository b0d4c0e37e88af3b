// SPDX-License-Identifier: Apache-2.0
#include "tests/data/image_support.h"

#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>
#include <png.h>

namespace weft::data::test {

Image plain_image(std::int64_t width, std::int64_t height, std::vector<std::uint8_t> colour) {
    Image out{height, width, static_cast<std::int64_t>(colour.size()), {}};
    for (std::int64_t i = 0; i < width * height; ++i) {
        out.pixels.insert(out.pixels.end(), colour.begin(), colour.end());
    }
    return out;
}

std::string jpeg_bytes(const Image& image) {
    jpeg_compress_struct codec{};
    jpeg_error_mgr errors{};
    codec.err = jpeg_std_error(&errors);
    jpeg_create_compress(&codec);
    unsigned char* buffer = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&codec, &buffer, &size);
    codec.image_width = static_cast<JDIMENSION>(image.width);
    codec.image_height = static_cast<JDIMENSION>(image.height);
    codec.input_components = static_cast<int>(image.channels);
    codec.in_color_space = image.channels == 1   ? JCS_GRAYSCALE
                           : image.channels == 3 ? JCS_RGB
                                                 : JCS_CMYK;
    jpeg_set_defaults(&codec);
    if (image.channels == 4) {
        jpeg_set_colorspace(&codec, JCS_YCCK); // with Adobe's marker
    }
    jpeg_start_compress(&codec, TRUE);
    while (codec.next_scanline < codec.image_height) {
        auto* row = const_cast<JSAMPROW>(image.pixels.data() +
                                         codec.next_scanline * image.width * image.channels);
        jpeg_write_scanlines(&codec, &row, 1);
    }
    jpeg_finish_compress(&codec);
    std::string out(reinterpret_cast<const char*>(buffer), size);
    jpeg_destroy_compress(&codec);
    std::free(buffer);
    return out;
}

std::string png_bytes(const Image& image) {
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = static_cast<png_uint_32>(image.width);
    png.height = static_cast<png_uint_32>(image.height);
    png.format = image.channels == 1   ? PNG_FORMAT_GRAY
                 : image.channels == 3 ? PNG_FORMAT_RGB
                                       : PNG_FORMAT_RGBA;
    png_alloc_size_t size = 0;
    WEFT_CHECK(png_image_write_get_memory_size(png, size, 0, image.pixels.data(), 0, nullptr) != 0,
               "libpng sizes an image");
    std::string out(size, '\0');
    WEFT_CHECK(
        png_image_write_to_memory(&png, out.data(), &size, 0, image.pixels.data(), 0, nullptr) != 0,
        "libpng writes an image");
    out.resize(size);
    return out;
}

} // namespace weft::data::test
