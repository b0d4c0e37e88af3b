// SPDX-License-Identifier: Apache-2.0
#include "core/train/pictures/picture_sheet.h"

#include "core/base/check.h"
#include "core/base/npy.h"
#include "core/data/files/image_codec.h"

#include <algorithm>
#include <cmath>

namespace weft::train {
namespace {

/// An empty picture of so many cells.
data::Image blank(const ir::Shape& shape, std::int64_t rows, std::int64_t columns) {
    data::Image out{shape[1] * rows, shape[2] * columns, shape[3], {}};
    out.pixels.resize(static_cast<std::size_t>(out.height * out.width * out.channels));
    return out;
}

void draw(const MadeSamples& samples, std::int64_t index, std::int64_t row, std::int64_t column,
          const PixelScale& scale, data::Image& image) {
    const std::vector<float> values = pixels(samples, index, scale);
    const std::int64_t line = samples.shape[2] * samples.shape[3];
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const std::int64_t y = row * samples.shape[1] + at / line;
        const std::int64_t x = column * line + at % line;
        image.pixels[static_cast<std::size_t>(y * image.width * image.channels + x)] =
            static_cast<std::uint8_t>(std::lround(values[i] * 255.0F));
    }
}

} // namespace

PixelScale pixel_scale(const config::Json& fitted_transforms) {
    PixelScale out;
    for (const config::Json& transform : fitted_transforms) {
        if (transform.at("type") != "normalize") {
            continue;
        }
        auto deviation = transform.at("std").get<std::vector<float>>();
        auto mean = transform.at("mean").get<std::vector<float>>();
        const std::size_t channels = std::max({out.factor.size(), deviation.size(), mean.size()});
        for (std::vector<float>* numbers : {&out.factor, &out.shift, &deviation, &mean}) {
            numbers->resize(channels, numbers->front());
        }
        for (std::size_t c = 0; c < channels; ++c) { // those before it are undone after it
            out.shift[c] += out.factor[c] * mean[c];
            out.factor[c] *= deviation[c];
        }
    }
    return out;
}

bool is_picture(const ir::Type& sample) {
    return sample.dtype == ir::DType::f32 && sample.shape.rank() == 3 &&
           (sample.shape[2] == 1 || sample.shape[2] == 3);
}

std::vector<float> pixels(const MadeSamples& samples, std::int64_t index, const PixelScale& scale) {
    const std::span<const float> values = samples.sample(index);
    std::vector<float> out;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t channel = i % static_cast<std::size_t>(samples.shape.back());
        const float moved = values[i] * scale.factor[channel % scale.factor.size()] +
                            scale.shift[channel % scale.shift.size()];
        out.push_back(std::isnan(moved) ? 0.0F : std::clamp(moved, 0.0F, 1.0F));
    }
    return out;
}

std::string picture_sheet(const std::vector<MadeSamples>& rows, const PixelScale& scale) {
    std::int64_t columns = 0;
    for (const MadeSamples& row : rows) {
        columns = std::max(columns, row.count());
    }
    WEFT_CHECK(columns > 0, "there is something to show");
    data::Image image = blank(rows.front().shape, std::ssize(rows), columns);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::int64_t i = 0; i < rows[row].count(); ++i) {
            draw(rows[row], i, static_cast<std::int64_t>(row), i, scale, image);
        }
    }
    return data::encode_png(image);
}

std::string picture_grid(const MadeSamples& samples, std::int64_t columns,
                         const PixelScale& scale) {
    const std::int64_t rows = (samples.count() + columns - 1) / columns;
    data::Image image = blank(samples.shape, rows, std::min(columns, samples.count()));
    for (std::int64_t i = 0; i < samples.count(); ++i) {
        draw(samples, i, i / columns, i % columns, scale, image);
    }
    return data::encode_png(image);
}

std::string npy_file(const MadeSamples& samples) {
    std::string out = npy_beginning("<f4", samples.shape.span());
    out.append(reinterpret_cast<const char*>(samples.values.data()),
               samples.values.size() * sizeof(float));
    return out;
}

} // namespace weft::train
