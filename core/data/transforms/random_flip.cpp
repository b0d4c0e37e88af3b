// SPDX-License-Identifier: Apache-2.0
#include "core/data/transforms/transform_list.h"

#include <algorithm>

namespace weft::data {
namespace {

class RandomFlip final : public Transform {
public:
    RandomFlip(ImageShape shape, float probability) : shape_(shape), probability_(probability) {}

    void apply(std::span<float> sample, Chance* chance) const override {
        if (uniform_01(chance->word()) >= probability_) {
            return;
        }
        float* row = sample.data();
        for (std::int64_t y = 0; y < shape_.height; ++y, row += shape_.width * shape_.channels) {
            for (std::int64_t left = 0, right = shape_.width - 1; left < right; ++left, --right) {
                std::swap_ranges(row + left * shape_.channels, row + (left + 1) * shape_.channels,
                                 row + right * shape_.channels);
            }
        }
    }

private:
    ImageShape shape_;
    float probability_;
};

config::FieldTable flip_fields() {
    return {config::real_field("probability", 0.5, "Share of the images that are mirrored.")
                .range(0, 1)};
}

std::unique_ptr<const Transform> make_flip(const config::Json& settings, const SampleInfo& info,
                                           const std::string& where) {
    return std::make_unique<RandomFlip>(image_shape(info, where),
                                        settings.at("probability").get<float>());
}

} // namespace

const TransformDef kRandomFlipTransform = {
    "random_flip", "Mirrors images left to right at random; in training only.",
    true,          false,
    flip_fields,   make_flip};

} // namespace weft::data
