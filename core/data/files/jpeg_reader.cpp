// SPDX-License-Identifier: Apache-2.0
#include "core/data/files/jpeg_reader.h"

#include "core/base/error.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include <jpeglib.h>

#include <jerror.h>

namespace weft::data {
namespace {

struct Errors {
    jpeg_error_mgr manager;
    std::jmp_buf jump;
    std::array<char, JMSG_LENGTH_MAX> text;
};

[[noreturn]] void leave(j_common_ptr codec) {
    auto* errors = reinterpret_cast<Errors*>(codec->err);
    (*codec->err->format_message)(codec, errors->text.data());
    std::longjmp(errors->jump, 1);
}

/// libjpeg only warns of data that ends early or makes no sense, and makes up the rest in grey.
void on_message(j_common_ptr codec, int level) {
    const int code = codec->err->msg_code;
    if (level < 0 &&
        (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE)) {
        leave(codec);
    }
}

void print_nothing(j_common_ptr) {}

/// A number of an EXIF block, in its byte order.
std::uint32_t number_at(std::span<const std::uint8_t> tiff, std::size_t at, int bytes) {
    std::uint32_t value = 0;
    const bool little = tiff[0] == 'I';
    for (int i = 0; i < bytes; ++i) {
        const auto place = at + static_cast<std::size_t>(little ? bytes - 1 - i : i);
        value = value << 8 | tiff[place];
    }
    return value;
}

/// The orientation in an APP1 block "Exif\0\0" + TIFF; 1 for anything else.
int orientation_of(std::span<const std::uint8_t> block) {
    constexpr std::size_t kMark = 6;
    constexpr std::uint32_t kOrientationTag = 0x0112;
    if (block.size() < kMark + 10 || std::memcmp(block.data(), "Exif\0", kMark) != 0) {
        return 1;
    }
    const auto tiff = block.subspan(kMark);
    const std::size_t table = number_at(tiff, 4, 4);
    if (table > tiff.size() - 2) {
        return 1;
    }
    const std::uint32_t entries = number_at(tiff, table, 2);
    for (std::uint32_t i = 0; i < entries; ++i) {
        const std::size_t at = table + 2 + std::size_t{12} * i;
        if (at + 12 > tiff.size()) {
            return 1;
        }
        if (number_at(tiff, at, 2) == kOrientationTag) {
            const std::uint32_t value = number_at(tiff, at + 8, 2);
            return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
        }
    }
    return 1;
}

} // namespace

struct JpegReader::State {
    Errors errors{};
    jpeg_decompress_struct codec{};
    std::string name;
    int orientation = 1;

    [[noreturn]] void fail() const {
        throw Error(ErrorKind::data, name, std::string("damaged JPEG: ") + errors.text.data(),
                    "Repair, replace or remove the file.");
    }

    // The three steps that libjpeg may jump out of. They own nothing; false: errors.text says why.

    bool read_header(std::span<const std::byte> file) {
        if (setjmp(errors.jump) != 0) {
            return false;
        }
        jpeg_create_decompress(&codec);
        jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(file.data()),
                     static_cast<unsigned long>(file.size()));
        jpeg_save_markers(&codec, JPEG_APP0 + 1, 0xffff);
        jpeg_read_header(&codec, TRUE);
        return true;
    }

    bool start() {
        if (setjmp(errors.jump) != 0) {
            return false;
        }
        jpeg_start_decompress(&codec);
        return true;
    }

    bool read_rows(std::uint8_t* pixels, std::size_t row_bytes) {
        if (setjmp(errors.jump) != 0) {
            return false;
        }
        while (codec.output_scanline < codec.output_height) {
            JSAMPROW row = pixels + codec.output_scanline * row_bytes;
            jpeg_read_scanlines(&codec, &row, 1);
        }
        jpeg_finish_decompress(&codec);
        return true;
    }
};

JpegReader::JpegReader(std::span<const std::byte> file, std::string name)
    : state_(std::make_unique<State>()) {
    State& state = *state_;
    state.name = std::move(name);
    state.codec.err = jpeg_std_error(&state.errors.manager);
    state.errors.manager.error_exit = leave;
    state.errors.manager.emit_message = on_message;
    state.errors.manager.output_message = print_nothing;
    if (!state.read_header(file)) {
        jpeg_destroy_decompress(&state.codec);
        state.fail();
    }
    for (jpeg_saved_marker_ptr marker = state.codec.marker_list; marker != nullptr;
         marker = marker->next) {
        const int found = orientation_of({marker->data, marker->data_length});
        state.orientation = found != 1 ? found : state.orientation;
    }
}

JpegReader::~JpegReader() {
    jpeg_destroy_decompress(&state_->codec);
}

ImageHeader JpegReader::header() const {
    return {state_->codec.image_height, state_->codec.image_width,
            state_->codec.jpeg_color_space == JCS_GRAYSCALE};
}

int JpegReader::orientation() const {
    return state_->orientation;
}

Image JpegReader::read(std::int64_t least_height, std::int64_t least_width) {
    State& state = *state_;
    jpeg_decompress_struct& codec = state.codec;
    const bool inks = codec.jpeg_color_space == JCS_CMYK || codec.jpeg_color_space == JCS_YCCK;
    const bool grey = codec.jpeg_color_space == JCS_GRAYSCALE;
    codec.out_color_space = inks ? JCS_CMYK : grey ? JCS_GRAYSCALE : JCS_RGB;
    codec.scale_denom = 1;
    while (codec.scale_denom < 8 && codec.image_height / (2 * codec.scale_denom) >= least_height &&
           codec.image_width / (2 * codec.scale_denom) >= least_width) {
        codec.scale_denom *= 2;
    }
    if (!state.start()) {
        state.fail();
    }
    Image out{codec.output_height, codec.output_width, codec.output_components, {}};
    const auto row_bytes = static_cast<std::size_t>(out.width * out.channels);
    out.pixels.resize(row_bytes * static_cast<std::size_t>(out.height));
    if (!state.read_rows(out.pixels.data(), row_bytes)) {
        state.fail();
    }
    if (!inks) {
        return out;
    }
    // Light that four inks let through. Adobe stores them inverted, as everybody does by now.
    Image colours{out.height, out.width, 3, {}};
    const auto count = static_cast<std::size_t>(out.height * out.width);
    colours.pixels.resize(count * 3);
    const bool inverted = codec.saw_Adobe_marker != FALSE;
    for (std::size_t i = 0; i < count; ++i) {
        const auto light = [&](std::size_t ink) {
            const int value = out.pixels[i * 4 + ink];
            return inverted ? value : 255 - value;
        };
        for (std::size_t channel = 0; channel < 3; ++channel) {
            colours.pixels[i * 3 + channel] =
                static_cast<std::uint8_t>((light(channel) * light(3) + 127) / 255);
        }
    }
    return colours;
}

} // namespace weft::data
