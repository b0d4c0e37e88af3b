// SPDX-License-Identifier: Apache-2.0
#include "core/data/transforms/transform_list.h"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace weft::data {
namespace {

// Counter-clockwise about the centre, ((W - 1) / 2, (H - 1) / 2); each pixel is read where it comes
// from, between its four neighbours, with `fill` outside of the image.
class RandomRotation final : public Transform {
public:
    RandomRotation(ImageShape shape, float degrees, float fill)
        : shape_(shape), degrees_(degrees), fill_(fill) {}

    void apply(std::span<float> sample, Chance* chance) const override {
        const std::vector<float> before(sample.begin(), sample.end());
        const float angle =
            chance->uniform(-degrees_, degrees_) * std::numbers::pi_v<float> / 180.0F;
        const float sine = std::sin(angle);
        const float cosine = std::cos(angle);
        const float middle_x = static_cast<float>(shape_.width - 1) / 2;
        const float middle_y = static_cast<float>(shape_.height - 1) / 2;
        float* to = sample.data();
        for (std::int64_t y = 0; y < shape_.height; ++y) {
            const float down = static_cast<float>(y) - middle_y;
            for (std::int64_t x = 0; x < shape_.width; ++x, to += shape_.channels) {
                const float across = static_cast<float>(x) - middle_x;
                read(before, middle_x + cosine * across - sine * down,
                     middle_y + sine * across + cosine * down, to);
            }
        }
    }

private:
    /// All channels at a place between pixels.
    void read(const std::vector<float>& image, float x, float y, float* to) const {
        const float left = std::floor(x);
        const float top = std::floor(y);
        const std::array<float, 2> wide = {1.0F - (x - left), x - left};
        const std::array<float, 2> high = {1.0F - (y - top), y - top};
        std::fill_n(to, shape_.channels, 0.0F);
        for (std::size_t i = 0; i < 2; ++i) {
            for (std::size_t j = 0; j < 2; ++j) {
                const auto row = static_cast<std::int64_t>(top) + static_cast<std::int64_t>(i);
                const auto column = static_cast<std::int64_t>(left) + static_cast<std::int64_t>(j);
                const bool inside =
                    row >= 0 && row < shape_.height && column >= 0 && column < shape_.width;
                const float weight = high[i] * wide[j];
                for (std::int64_t c = 0; c < shape_.channels; ++c) {
                    const auto at = static_cast<std::size_t>(
                        (row * shape_.width + column) * shape_.channels + c);
                    to[c] += weight * (inside ? image[at] : fill_);
                }
            }
        }
    }

    ImageShape shape_;
    float degrees_, fill_;
};

config::FieldTable rotation_fields() {
    return {config::real_field("degrees", 15.0, "The largest angle, to either side.")
                .above(0)
                .range(0, 180)
                .in("degrees"),
            config::real_field("fill", 0.0, "What is seen outside of the image.")};
}

std::unique_ptr<const Transform> make_rotation(const config::Json& settings, const SampleInfo& info,
                                               const std::string& where) {
    return std::make_unique<RandomRotation>(image_shape(info, where),
                                            settings.at("degrees").get<float>(),
                                            settings.at("fill").get<float>());
}

} // namespace

const TransformDef kRandomRotationTransform = {
    "random_rotation",
    "Turns images by a random angle about their centre; in training only.",
    true,
    false,
    rotation_fields,
    make_rotation};

} // namespace weft::data
