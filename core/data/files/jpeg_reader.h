// SPDX-License-Identifier: Apache-2.0
// One JPEG file through libjpeg, whose errors leave by longjmp: everything that it may jump out of
// is kept in here. Used by image_codec.cpp alone.
#pragma once

#include "core/data/files/image_codec.h"

#include <memory>

namespace weft::data {

class JpegReader {
public:
    /// Reads the header. Throws weft::Error{data}, as read does.
    JpegReader(std::span<const std::byte> file, std::string name);
    ~JpegReader();
    JpegReader(const JpegReader&) = delete;
    JpegReader& operator=(const JpegReader&) = delete;

    /// As it is stored: not turned.
    ImageHeader header() const;
    /// 1 to 8, of the EXIF tag; 1 without one.
    int orientation() const;
    /// Grey or RGB. Reduced to a half, a quarter or an eighth while both sides stay this long.
    Image read(std::int64_t least_height, std::int64_t least_width);

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::data
