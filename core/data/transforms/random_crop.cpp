// SPDX-License-Identifier: Apache-2.0
#include "core/data/transforms/transform_list.h"

#include <algorithm>
#include <vector>

namespace weft::data {
namespace {

// The image is laid on a border of `padding` zeros and cut out again at a random place.
class RandomCrop final : public Transform {
public:
    RandomCrop(ImageShape shape, std::int64_t padding) : shape_(shape), padding_(padding) {}

    void apply(std::span<float> sample, Chance* chance) const override {
        const std::vector<float> before(sample.begin(), sample.end());
        std::fill(sample.begin(), sample.end(), 0.0F);
        const std::int64_t down = chance->below(2 * padding_ + 1) - padding_;
        const std::int64_t across = chance->below(2 * padding_ + 1) - padding_;
        const std::int64_t first = std::max<std::int64_t>(0, -across);
        const std::int64_t last = std::min(shape_.width, shape_.width - across);
        for (std::int64_t y = 0; y < shape_.height; ++y) {
            const std::int64_t from = y + down;
            if (from < 0 || from >= shape_.height || first >= last) {
                continue;
            }
            const float* src =
                before.data() + (from * shape_.width + first + across) * shape_.channels;
            std::copy_n(src, (last - first) * shape_.channels,
                        sample.data() + (y * shape_.width + first) * shape_.channels);
        }
    }

private:
    ImageShape shape_;
    std::int64_t padding_;
};

config::FieldTable crop_fields() {
    return {config::integer_field("padding", 4, "Border of zeros; the largest shift.")
                .range(1, 1024)
                .in("pixels")};
}

std::unique_ptr<const Transform> make_crop(const config::Json& settings, const SampleInfo& info,
                                           const std::string& where) {
    return std::make_unique<RandomCrop>(image_shape(info, where),
                                        settings.at("padding").get<std::int64_t>());
}

} // namespace

const TransformDef kRandomCropTransform = {
    "random_crop", "Shifts images at random and fills up with zeros; in training only.",
    true,          false,
    crop_fields,   make_crop};

} // namespace weft::data
