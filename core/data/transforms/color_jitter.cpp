// SPDX-License-Identifier: Apache-2.0
#include "core/data/transforms/transform_list.h"

#include "core/base/error.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::data {
namespace {

// Luma of ITU-R BT.601, as Pillow and torchvision take it.
constexpr std::array<float, 3> kLuma = {0.299F, 0.587F, 0.114F};

using Pixel = std::array<float, 3>;

float gray_of(const float* pixel, std::int64_t channels) {
    if (channels == 1) {
        return pixel[0];
    }
    return kLuma[0] * pixel[0] + kLuma[1] * pixel[1] + kLuma[2] * pixel[2];
}

float limited(float value) {
    return std::clamp(value, 0.0F, 1.0F);
}

/// The hue of a pixel moved by `turn` of the circle, with saturation and value kept (the HSV
/// hexagon: Smith, "Color gamut transform pairs", SIGGRAPH 1978).
Pixel turned_hue(const Pixel& pixel, float turn) {
    const float most = std::max({pixel[0], pixel[1], pixel[2]});
    const float least = std::min({pixel[0], pixel[1], pixel[2]});
    const float chroma = most - least;
    if (chroma == 0.0F) {
        return pixel;
    }
    float hue = 0.0F; // in sixths
    if (most == pixel[0]) {
        hue = (pixel[1] - pixel[2]) / chroma;
    } else if (most == pixel[1]) {
        hue = 2.0F + (pixel[2] - pixel[0]) / chroma;
    } else {
        hue = 4.0F + (pixel[0] - pixel[1]) / chroma;
    }
    hue += 6.0F * turn;
    Pixel out{};
    for (std::size_t c = 0; c < 3; ++c) {
        // Smith's f(n) = value - chroma max(0, min(k, 4 - k, 1)), k = (n + hue) mod 6.
        constexpr std::array<float, 3> kFirst = {5.0F, 3.0F, 1.0F};
        float k = std::fmod(kFirst[c] + hue, 6.0F);
        k = k < 0.0F ? k + 6.0F : k;
        out[c] = most - chroma * std::max(0.0F, std::min({k, 4.0F - k, 1.0F}));
    }
    return out;
}

struct Strengths {
    float brightness, contrast, saturation, hue;
};

// Brightness, contrast, saturation, hue, in this order: torchvision's ColorJitter, which draws the
// order too.
class ColorJitter final : public Transform {
public:
    ColorJitter(ImageShape shape, Strengths strengths) : shape_(shape), strengths_(strengths) {}

    void apply(std::span<float> sample, Chance* chance) const override {
        const float brightness = factor(strengths_.brightness, *chance);
        const float contrast = factor(strengths_.contrast, *chance);
        const float saturation = factor(strengths_.saturation, *chance);
        const float hue = chance->uniform(-strengths_.hue, strengths_.hue);
        if (strengths_.brightness > 0.0F) {
            for (float& value : sample) {
                value = limited(value * brightness);
            }
        }
        if (strengths_.contrast > 0.0F) {
            const float gray = mean_gray(sample);
            for (float& value : sample) {
                value = limited(gray + contrast * (value - gray));
            }
        }
        if (shape_.channels == 3 && (strengths_.saturation > 0.0F || strengths_.hue > 0.0F)) {
            recolour(sample, saturation, hue);
        }
    }

private:
    static float factor(float strength, Chance& chance) {
        return chance.uniform(std::max(0.0F, 1.0F - strength), 1.0F + strength);
    }

    float mean_gray(std::span<const float> sample) const {
        double sum = 0.0;
        const std::int64_t pixels = shape_.height * shape_.width;
        for (std::int64_t i = 0; i < pixels; ++i) {
            sum +=
                static_cast<double>(gray_of(sample.data() + i * shape_.channels, shape_.channels));
        }
        return static_cast<float>(sum / static_cast<double>(pixels));
    }

    void recolour(std::span<float> sample, float saturation, float hue) const {
        for (std::size_t i = 0; i + 3 <= sample.size(); i += 3) {
            float* at = sample.data() + i;
            if (strengths_.saturation > 0.0F) {
                const float gray = gray_of(at, 3);
                for (std::size_t c = 0; c < 3; ++c) {
                    at[c] = limited(gray + saturation * (at[c] - gray));
                }
            }
            if (strengths_.hue > 0.0F) {
                const Pixel out = turned_hue({at[0], at[1], at[2]}, hue);
                std::copy(out.begin(), out.end(), at);
            }
        }
    }

    ImageShape shape_;
    Strengths strengths_;
};

config::FieldTable jitter_fields() {
    const auto strength = [](const char* name, const char* help) {
        return config::real_field(name, 0.0, help).range(0, 10);
    };
    return {
        strength("brightness", "Values times a factor up to so far from 1."),
        strength("contrast", "Distances to the mean gray times such a factor."),
        strength("saturation", "Distances to each pixel's gray times such a factor."),
        config::real_field("hue", 0.0, "The largest move on the circle of hues; 0.5 is half of it.")
            .range(0, 0.5)};
}

std::unique_ptr<const Transform> make_jitter(const config::Json& settings, const SampleInfo& info,
                                             const std::string& where) {
    const ImageShape shape = image_shape(info, where);
    const Strengths strengths = {
        settings.at("brightness").get<float>(), settings.at("contrast").get<float>(),
        settings.at("saturation").get<float>(), settings.at("hue").get<float>()};
    if (shape.channels != 3 &&
        (shape.channels != 1 || strengths.saturation > 0 || strengths.hue > 0)) {
        throw Error(
            ErrorKind::data, where,
            "images with " + std::to_string(shape.channels) +
                (shape.channels == 1 ? " channel have no colours" : " channels are no colours"),
            shape.channels == 1 ? "Leave saturation and hue out." : "Use it with 1 or 3 channels.");
    }
    return std::make_unique<ColorJitter>(shape, strengths);
}

} // namespace

const TransformDef kColorJitterTransform = {
    "color_jitter", "Brightness, contrast, saturation and hue change at random; in training only.",
    true,           true,
    jitter_fields,  make_jitter};

} // namespace weft::data
