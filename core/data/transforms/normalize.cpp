// SPDX-License-Identifier: Apache-2.0
#include "core/data/transforms/transform_list.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/data/moments.h"

#include <algorithm>

namespace weft::data {
namespace {

class Normalize final : public Transform {
public:
    Normalize(std::vector<float> mean, std::vector<float> scale)
        : mean_(std::move(mean)), scale_(std::move(scale)) {}

    void apply(std::span<float> sample, Chance*) const override {
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
    return {config::list_field("mean", nullptr, number,
                               "Subtracted; one number, or one per channel. Left out: the mean of "
                               "the training samples, per channel.")
                .or_null(),
            config::list_field("std", nullptr, positive,
                               "Divided by; one number, or one per channel. Left out: the "
                               "deviation of the training samples, per channel.")
                .or_null()};
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
    WEFT_CHECK(!settings.at("mean").is_null() && !settings.at("std").is_null(),
               "transforms are fitted before they are made");
    const std::vector<double> mean = per_channel(settings, "mean", shape.channels, where);
    const std::vector<double> deviation = per_channel(settings, "std", shape.channels, where);
    std::vector<float> scale;
    for (const double value : deviation) {
        scale.push_back(static_cast<float>(1.0 / value));
    }
    return std::make_unique<Normalize>(std::vector<float>(mean.begin(), mean.end()),
                                       std::move(scale));
}

constexpr std::int64_t kMostFitted = 10000;

/// Moments of each channel over samples evenly apart.
std::vector<MomentsOf> channel_moments(const Source& train, std::int64_t channels) {
    std::vector<MomentsOf> out(static_cast<std::size_t>(channels));
    std::vector<float> sample(static_cast<std::size_t>(train.info().input.shape.elements()));
    std::vector<std::byte> target(static_cast<std::size_t>(train.info().target.bytes()));
    const std::int64_t count = std::min(train.samples(), kMostFitted);
    for (std::int64_t i = 0; i < count; ++i) {
        train.read(i * train.samples() / count, std::as_writable_bytes(std::span(sample)), target);
        for (std::size_t e = 0; e < sample.size(); ++e) {
            out[e % out.size()].add(static_cast<double>(sample[e]));
        }
    }
    return out;
}

} // namespace

config::Json fitted_transforms(config::Json list, const Source& train) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        config::Json& settings = list[i];
        if (settings.at("type") != kNormalizeTransform.name ||
            (!settings.at("mean").is_null() && !settings.at("std").is_null())) {
            continue;
        }
        const ImageShape shape = image_shape(train.info(), "/data/transforms/" + std::to_string(i));
        const std::vector<MomentsOf> moments = channel_moments(train, shape.channels);
        config::Json mean = config::Json::array();
        config::Json deviation = config::Json::array();
        for (const MomentsOf& channel : moments) {
            mean.push_back(channel.moments().mean);
            deviation.push_back(channel.moments().deviation);
        }
        for (const auto& [name, learnt] : {std::pair{"mean", mean}, std::pair{"std", deviation}}) {
            if (settings.at(name).is_null()) {
                settings[name] = learnt;
            }
        }
    }
    return list;
}

const TransformDef kNormalizeTransform = {
    "normalize",   "(value - mean) / std per channel.", false, false, normalize_fields,
    make_normalize};

} // namespace weft::data
