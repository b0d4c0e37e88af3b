// SPDX-License-Identifier: Apache-2.0
#include "core/data/files/image_resize.h"

#include "core/base/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::data {
namespace {

/// Which pixels of a line make one of the resized line, and how much each counts.
struct Taps {
    std::int64_t first = 0;
    std::vector<float> weights; // their sum is 1
};

std::vector<Taps> taps_of(double start, double length, std::int64_t in, std::int64_t out) {
    const double scale = length / static_cast<double>(out);
    const double reach = std::max(scale, 1.0);
    std::vector<Taps> all(static_cast<std::size_t>(out));
    for (std::int64_t i = 0; i < out; ++i) {
        const double centre = start + (static_cast<double>(i) + 0.5) * scale;
        const auto first =
            std::max<std::int64_t>(0, std::llround(std::floor(centre - reach + 0.5)));
        const auto end = std::min(in, std::int64_t{std::llround(std::floor(centre + reach + 0.5))});
        Taps& taps = all[static_cast<std::size_t>(i)];
        taps.first = first;
        double sum = 0;
        std::vector<double> weights;
        for (std::int64_t x = first; x < end; ++x) {
            const double distance = std::abs((static_cast<double>(x) + 0.5 - centre) / reach);
            weights.push_back(std::max(0.0, 1 - distance));
            sum += weights.back();
        }
        for (const double weight : weights) {
            taps.weights.push_back(static_cast<float>(weight / sum));
        }
    }
    return all;
}

std::uint8_t level(float value) {
    return static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

} // namespace

void resize_image(const Image& image, const ImageBox& box, std::int64_t height, std::int64_t width,
                  std::span<std::uint8_t> out) {
    const std::int64_t channels = image.channels;
    WEFT_CHECK(static_cast<std::int64_t>(out.size()) == height * width * channels,
               "the resized image has its size");
    if (box.x == 0 && box.y == 0 && image.height == height && image.width == width &&
        box.width == static_cast<double>(width) && box.height == static_cast<double>(height)) {
        std::copy(image.pixels.begin(), image.pixels.end(), out.begin());
        return;
    }
    const std::vector<Taps> across = taps_of(box.x, box.width, image.width, width);
    const std::vector<Taps> down = taps_of(box.y, box.height, image.height, height);
    // Lines first: only those that the columns below use.
    const std::int64_t first = down.front().first;
    const std::int64_t end =
        down.back().first + static_cast<std::int64_t>(down.back().weights.size());
    const auto line = static_cast<std::size_t>(width * channels);
    std::vector<float> lines(line * static_cast<std::size_t>(end - first));
    for (std::int64_t y = first; y < end; ++y) {
        const std::uint8_t* row = image.pixels.data() + y * image.width * channels;
        float* to = lines.data() + static_cast<std::size_t>(y - first) * line;
        for (const Taps& taps : across) {
            for (std::int64_t c = 0; c < channels; ++c) {
                const std::uint8_t* from = row + taps.first * channels + c;
                float sum = 0;
                for (std::size_t k = 0; k < taps.weights.size(); ++k) {
                    sum += taps.weights[k] *
                           static_cast<float>(from[k * static_cast<std::size_t>(channels)]);
                }
                *to++ = sum;
            }
        }
    }
    for (std::int64_t y = 0; y < height; ++y) {
        const Taps& taps = down[static_cast<std::size_t>(y)];
        const float* from = lines.data() + static_cast<std::size_t>(taps.first - first) * line;
        std::uint8_t* to = out.data() + static_cast<std::size_t>(y) * line;
        for (std::size_t x = 0; x < line; ++x) {
            float sum = 0;
            for (std::size_t k = 0; k < taps.weights.size(); ++k) {
                sum += taps.weights[k] * from[k * line + x];
            }
            to[x] = level(sum);
        }
    }
}

} // namespace weft::data
