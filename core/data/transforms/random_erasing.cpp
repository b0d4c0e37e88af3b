// SPDX-License-Identifier: Apache-2.0
#include "core/data/transforms/transform_list.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>

namespace weft::data {
namespace {

struct ErasingRange {
    float low, high;
};

// A rectangle becomes one number (Zhong et al., "Random erasing data augmentation", 2017): its
// area is drawn evenly, its shape on a logarithmic scale, and again up to ten times until it fits.
class RandomErasing final : public Transform {
public:
    RandomErasing(ImageShape shape, float probability, ErasingRange area, ErasingRange ratio,
                  float value)
        : shape_(shape), probability_(probability), area_(area), ratio_(ratio), value_(value) {}

    void apply(std::span<float> sample, Chance* chance) const override {
        constexpr int kTries = 10;
        if (uniform_01(chance->word()) >= probability_) {
            return;
        }
        for (int i = 0; i < kTries; ++i) {
            const float area = chance->uniform(area_.low, area_.high) *
                               static_cast<float>(shape_.height * shape_.width);
            const float ratio =
                std::exp(chance->uniform(std::log(ratio_.low), std::log(ratio_.high)));
            const auto high = static_cast<std::int64_t>(std::lround(std::sqrt(area * ratio)));
            const auto wide = static_cast<std::int64_t>(std::lround(std::sqrt(area / ratio)));
            if (high < 1 || wide < 1 || high >= shape_.height || wide >= shape_.width) {
                continue;
            }
            const std::int64_t top = chance->below(shape_.height - high + 1);
            const std::int64_t left = chance->below(shape_.width - wide + 1);
            for (std::int64_t y = top; y < top + high; ++y) {
                std::fill_n(sample.data() + (y * shape_.width + left) * shape_.channels,
                            wide * shape_.channels, value_);
            }
            return;
        }
    }

private:
    ImageShape shape_;
    float probability_;
    ErasingRange area_, ratio_;
    float value_;
};

config::FieldTable erasing_fields() {
    const auto number = config::real_field("value", nullptr, "One end.").above(0).must_be_given();
    return {
        config::real_field("probability", 0.5, "Share of the images that lose a part.").range(0, 1),
        config::list_field("area", config::Json::array({0.02, 0.33}), number,
                           "Smallest and largest part of the image.")
            .exactly(2),
        config::list_field("ratio", config::Json::array({0.3, 3.3}), number,
                           "Smallest and largest height over width.")
            .exactly(2),
        config::real_field("value", 0.0, "What the part becomes.")};
}

ErasingRange range_of(const config::Json& settings, const char* name, const std::string& where) {
    const ErasingRange out = {settings.at(name)[0].get<float>(), settings.at(name)[1].get<float>()};
    if (out.low > out.high) {
        throw Error(ErrorKind::data, where + "/" + name, "the smallest is above the largest",
                    "Give the smaller number first.");
    }
    return out;
}

std::unique_ptr<const Transform> make_erasing(const config::Json& settings, const SampleInfo& info,
                                              const std::string& where) {
    const ErasingRange area = range_of(settings, "area", where);
    if (area.high > 1.0F) {
        throw Error(ErrorKind::data, where + "/area", "a part is at most the whole, 1",
                    "Give shares between 0 and 1.");
    }
    return std::make_unique<RandomErasing>(
        image_shape(info, where), settings.at("probability").get<float>(), area,
        range_of(settings, "ratio", where), settings.at("value").get<float>());
}

} // namespace

const TransformDef kRandomErasingTransform = {
    "random_erasing",
    "A random rectangle of images becomes one number; in training only.",
    true,
    false,
    erasing_fields,
    make_erasing};

} // namespace weft::data
