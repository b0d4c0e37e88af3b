// SPDX-License-Identifier: Apache-2.0
#include "core/data/transforms/transform_list.h"

#include "core/base/error.h"

namespace weft::data {
namespace {

class Normalize final : public Transform {
public:
    Normalize(std::vector<float> mean, std::vector<float> scale)
        : mean_(std::move(mean)), scale_(std::move(scale)) {}

    void apply(std::span<float> sample, const PhiloxCounter&) const override {
        const std::size_t channels = mean_.size();
        for (std::size_t i = 0; i < sample.size(); ++i) {
            sample[i] = (sample[i] - mean_[i % channels]) * scale_[i % channels];
        }
    }

private:
    std::vector<float> mean_;
    std::vector<float> scale_;
};

config::FieldTable normalize_fields() {
    const auto number =
        config::real_field("value", nullptr, "One number per channel.").must_be_given();
    auto positive = number;
    positive.above(0);
    return {
        config::list_field("mean", nullptr, number, "Subtracted; one number, or one per channel.")
            .must_be_given(),
        config::list_field("std", nullptr, positive, "Divided by; one number, or one per channel.")
            .must_be_given()};
}

std::vector<double> per_channel(const config::Json& settings, const char* name,
                                std::int64_t channels, const std::string& where) {
    auto values = settings.at(name).get<std::vector<double>>();
    const auto count = static_cast<std::int64_t>(values.size());
    if (count != 1 && count != channels) {
        throw Error(ErrorKind::data, where + "/" + name,
                    std::to_string(count) + " numbers for images with " + std::to_string(channels) +
                        " channels",
                    "Give one number, or one per channel.");
    }
    values.resize(static_cast<std::size_t>(channels), values.front());
    return values;
}

std::unique_ptr<const Transform> make_normalize(const config::Json& settings,
                                                const SampleInfo& info, const std::string& where) {
    const ImageShape shape = image_shape(info, where);
    const std::vector<double> mean = per_channel(settings, "mean", shape.channels, where);
    const std::vector<double> deviation = per_channel(settings, "std", shape.channels, where);
    std::vector<float> scale;
    for (const double value : deviation) {
        scale.push_back(static_cast<float>(1.0 / value));
    }
    return std::make_unique<Normalize>(std::vector<float>(mean.begin(), mean.end()),
                                       std::move(scale));
}

} // namespace

const TransformDef kNormalizeTransform = {"normalize", "(value - mean) / std per channel.", false,
                                          normalize_fields, make_normalize};

} // namespace weft::data
