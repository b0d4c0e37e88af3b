// SPDX-License-Identifier: Apache-2.0
#include "core/data/files/image_codec.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/files/jpeg_reader.h"

#include <png.h>

#include <array>
#include <cstring>
#include <utility>

namespace weft::data {
namespace {

constexpr std::int64_t kMostPixels = 100'000'000;
constexpr std::array<std::uint8_t, 8> kPngMark = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::array<std::uint8_t, 3> kJpegMark = {0xff, 0xd8, 0xff};

template <std::size_t N>
bool starts_with(std::span<const std::byte> bytes, const std::array<std::uint8_t, N>& mark) {
    return bytes.size() >= N && std::memcmp(bytes.data(), mark.data(), N) == 0;
}

[[noreturn]] void fail_image(const std::string& name, const std::string& text) {
    throw Error(ErrorKind::data, name, text, "Repair, replace or remove the file.");
}

void require_size(const std::string& name, std::int64_t height, std::int64_t width) {
    if (height < 1 || width < 1 || height > kMostPixels / width) {
        fail_image(name, "it announces " + std::to_string(width) + " x " + std::to_string(height) +
                             " pixels; at most " + format_thousands(kMostPixels) + " are read");
    }
}

[[noreturn]] void neither(const std::string& name) {
    fail_image(name, "it is neither a PNG nor a JPEG");
}

/// libpng's simplified interface; freed at the end.
class PngImage {
public:
    PngImage(std::span<const std::byte> file, const std::string& name) : name_(name) {
        image_.version = PNG_IMAGE_VERSION;
        if (png_image_begin_read_from_memory(&image_, file.data(), file.size()) == 0) {
            fail_image(name_, std::string("damaged PNG: ") + image_.message);
        }
        // Numbers of 16 bits are scaled; without this they would count as linear light.
        image_.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    }
    PngImage(const PngImage&) = delete;
    PngImage& operator=(const PngImage&) = delete;
    ~PngImage() { png_image_free(&image_); }

    ImageHeader header() const {
        return {image_.height, image_.width, (image_.format & PNG_FORMAT_FLAG_COLOR) == 0};
    }

    /// Red, green, blue, alpha.
    Image read() {
        image_.format = PNG_FORMAT_RGBA;
        Image out{image_.height, image_.width, 4, {}};
        out.pixels.resize(PNG_IMAGE_SIZE(image_));
        if (png_image_finish_read(&image_, nullptr, out.pixels.data(), 0, nullptr) == 0) {
            fail_image(name_, std::string("damaged PNG: ") + image_.message);
        }
        return out;
    }

private:
    png_image image_{};
    const std::string& name_;
};

std::uint8_t over(int value, int alpha, int background) {
    return static_cast<std::uint8_t>((value * alpha + background * (255 - alpha) + 127) / 255);
}

std::uint8_t luma(int red, int green, int blue) {
    return static_cast<std::uint8_t>((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
}

/// Grey, RGB or RGBA to the channels that are wanted.
Image converted(Image image, const DecodeOptions& options) {
    if (image.channels == options.channels) {
        return image;
    }
    Image out{image.height, image.width, options.channels, {}};
    const auto count = static_cast<std::size_t>(image.height * image.width);
    out.pixels.resize(count * static_cast<std::size_t>(options.channels));
    const std::uint8_t* from = image.pixels.data();
    std::uint8_t* to = out.pixels.data();
    for (std::size_t i = 0; i < count; ++i, from += image.channels, to += options.channels) {
        const bool grey = image.channels == 1;
        std::array<std::uint8_t, 3> colour = {from[0], from[grey ? 0 : 1], from[grey ? 0 : 2]};
        for (std::uint8_t& value : colour) {
            value = image.channels == 4 ? over(value, from[3], options.background) : value;
        }
        if (options.channels == 1) {
            to[0] = luma(colour[0], colour[1], colour[2]);
        } else {
            std::memcpy(to, colour.data(), colour.size());
        }
    }
    return out;
}

/// Turned and mirrored as the EXIF orientation says (CIPA DC-008, tag 0x0112).
Image oriented(Image image, int orientation) {
    if (orientation < 2) {
        return image;
    }
    const bool turned = orientation > 4;
    Image out{turned ? image.width : image.height,
              turned ? image.height : image.width,
              image.channels,
              {}};
    out.pixels.resize(image.pixels.size());
    const bool flip_x =
        orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
    const bool flip_y =
        orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    const auto size = static_cast<std::size_t>(image.channels);
    for (std::int64_t y = 0; y < out.height; ++y) {
        for (std::int64_t x = 0; x < out.width; ++x) {
            const std::int64_t fx = flip_x ? out.width - 1 - x : x;
            const std::int64_t fy = flip_y ? out.height - 1 - y : y;
            const std::int64_t from = turned ? fx * image.width + fy : fy * image.width + fx;
            std::memcpy(out.pixels.data() + static_cast<std::size_t>(y * out.width + x) * size,
                        image.pixels.data() + static_cast<std::size_t>(from) * size, size);
        }
    }
    return out;
}

} // namespace

bool looks_like_image(std::span<const std::byte> head) {
    return starts_with(head, kPngMark) || starts_with(head, kJpegMark);
}

ImageHeader read_image_header(std::span<const std::byte> file, const std::string& name) {
    if (starts_with(file, kPngMark)) {
        const PngImage image(file, name);
        require_size(name, image.header().height, image.header().width);
        return image.header();
    }
    if (!starts_with(file, kJpegMark)) {
        neither(name);
    }
    const JpegReader reader(file, name);
    ImageHeader out = reader.header();
    require_size(name, out.height, out.width);
    if (reader.orientation() > 4) {
        std::swap(out.height, out.width);
    }
    return out;
}

Image decode_image(std::span<const std::byte> file, const std::string& name,
                   const DecodeOptions& options) {
    if (starts_with(file, kPngMark)) {
        PngImage image(file, name);
        require_size(name, image.header().height, image.header().width);
        return converted(image.read(), options);
    }
    if (!starts_with(file, kJpegMark)) {
        neither(name);
    }
    JpegReader reader(file, name);
    const ImageHeader header = reader.header();
    require_size(name, header.height, header.width);
    const bool turned = reader.orientation() > 4;
    Image image = reader.read(2 * (turned ? options.least_width : options.least_height),
                              2 * (turned ? options.least_height : options.least_width));
    return oriented(converted(std::move(image), options), reader.orientation());
}

std::string encode_png(const Image& image) {
    WEFT_CHECK(image.channels == 1 || image.channels == 3, "a picture is grey or of three colours");
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = static_cast<png_uint_32>(image.width);
    png.height = static_cast<png_uint_32>(image.height);
    png.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
    std::string out(size, '\0');
    WEFT_CHECK(
        png_image_write_to_memory(&png, out.data(), &size, 0, image.pixels.data(), 0, nullptr) != 0,
        "libpng writes what fits its memory");
    out.resize(size);
    return out;
}

} // namespace weft::data
