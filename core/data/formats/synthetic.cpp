// SPDX-License-Identifier: Apache-2.0
// synthetic: data made on the fly out of counter-based random numbers, so that sample i is the same
// on every machine. Every kind can be learned, and none is trivial:
//   tokens          each token follows from the one before by a fixed random map, nine times in ten
//   images          one smooth random pattern per class, plus noise
//   regression      target = tanh of a fixed random linear map of the features, plus a little noise
//   classification  one random centre per class, plus noise
// Images cost most to make: a small set is kept whole, of a larger one the patterns.
// The test part continues with further samples: a fifth as many, of the same rule.
#include "core/data/formats/format_list.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/philox.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <numbers>
#include <optional>
#include <utility>

namespace weft::data {
namespace {

struct Synthetic {
    std::string kind;
    std::int64_t samples = 0;
    std::int64_t length = 0;
    std::int64_t vocabulary = 0;
    std::int64_t classes = 0;
    std::int64_t features = 0;
    std::int64_t targets = 0;
    std::vector<std::int64_t> image; // [H,W,C]
    std::uint64_t seed = 0;
};

/// Radians per pixel along x and y, and at the corner.
struct Wave {
    double across, down, phase;
};
constexpr std::int64_t kWaves = 3;

constexpr std::int64_t kKeptImageBytes = std::int64_t{64} << 20;

/// Rows of numbers, each made at its first use, by whichever thread comes first.
template <class T>
class KeptRows {
public:
    KeptRows(std::int64_t rows, std::int64_t width) : rows_(rows), width_(width) {}

    static std::int64_t bytes(std::int64_t rows, std::int64_t width) {
        return rows * (width * static_cast<std::int64_t>(sizeof(T)) +
                       static_cast<std::int64_t>(sizeof(std::once_flag)));
    }
    std::int64_t bytes() const { return bytes(rows_, width_); }

    template <class Make>
    std::span<const T> row(std::int64_t index, const Make& make) const {
        std::call_once(reserved_, [this] {
            made_ = std::make_unique<std::once_flag[]>(static_cast<std::size_t>(rows_));
            values_ = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(rows_ * width_));
        });
        const std::span<T> out(values_.get() + index * width_, static_cast<std::size_t>(width_));
        std::call_once(made_[static_cast<std::size_t>(index)], [&] { make(out); });
        return out;
    }

private:
    std::int64_t rows_, width_;
    mutable std::once_flag reserved_;
    mutable std::unique_ptr<std::once_flag[]> made_; // [rows]
    mutable std::unique_ptr<T[]> values_;            // [rows, width]
};

template <class T>
void store(std::span<std::byte> out, std::int64_t index, T value) {
    std::memcpy(out.data() + static_cast<std::size_t>(index) * sizeof(T), &value, sizeof(T));
}

class SyntheticSource final : public Source {
public:
    SyntheticSource(Synthetic settings, Part part, std::string fingerprint)
        : settings_(std::move(settings)), rule_(settings_.seed, "data.synthetic.rule"),
          noise_(settings_.seed, "data.synthetic.noise"),
          first_(part == Part::train ? 0 : settings_.samples),
          samples_(part == Part::train ? settings_.samples
                                       : std::max<std::int64_t>(1, settings_.samples / 5)),
          fingerprint_(std::move(fingerprint)) {
        describe();
        if (settings_.kind == "images") {
            keep();
        }
    }

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return samples_; }

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        WEFT_CHECK(index >= 0 && index < samples_, "sample index within the source");
        WEFT_CHECK(static_cast<std::int64_t>(input.size()) == info_.input.bytes(),
                   "input has the size of info()");
        const std::uint64_t sample = static_cast<std::uint64_t>(first_ + index);
        if (settings_.kind == "tokens") {
            make_tokens(sample, input, target);
        } else if (settings_.kind == "regression") {
            make_regression(sample, input, target);
        } else {
            settings_.kind == "images" ? read_image(index, input) : make_point(sample, input);
            if (!target.empty()) {
                store<std::int32_t>(target, 0, class_of(sample));
            }
        }
    }

    std::int32_t label(std::int64_t index) const override {
        const bool labelled = settings_.kind == "images" || settings_.kind == "classification";
        return labelled ? class_of(static_cast<std::uint64_t>(first_ + index)) : -1;
    }
    std::int64_t cache_bytes() const override {
        return images_ ? images_->bytes() : patterns_ ? patterns_->bytes() : 0;
    }
    std::string fingerprint() const override { return fingerprint_; }

private:
    void describe() {
        std::string shape;
        if (settings_.kind == "tokens") {
            info_.input = info_.target = {ir::DType::i32, {settings_.length}};
            info_.classes = settings_.vocabulary;
            if (settings_.vocabulary == tokenizer::byte_tokenizer()->size()) {
                info_.tokenizer = tokenizer::byte_tokenizer(); // as many as there are bytes
            }
            shape = "windows of " + format_thousands(settings_.length) + " tokens";
        } else {
            info_.input = settings_.kind == "images"
                              ? ir::Type{ir::DType::f32, ir::Shape(settings_.image)}
                              : ir::Type{ir::DType::f32, {settings_.features}};
            const bool numbers = settings_.kind == "regression";
            info_.target = numbers ? ir::Type{ir::DType::f32, {settings_.targets}}
                                   : ir::Type{ir::DType::i32, {}};
            info_.classes = numbers ? 0 : settings_.classes;
            shape = "samples " + ir::to_text(info_.input.shape);
        }
        info_.description =
            "Synthetic " + settings_.kind + ", " + format_thousands(samples_) + " " + shape;
    }

    std::int32_t class_of(std::uint64_t sample) const {
        return static_cast<std::int32_t>(
            noise_.below(0, sample, static_cast<std::uint64_t>(settings_.classes)));
    }

    void make_tokens(std::uint64_t sample, std::span<std::byte> input,
                     std::span<std::byte> target) const {
        const auto vocabulary = static_cast<std::uint64_t>(settings_.vocabulary);
        std::uint64_t token = noise_.below(sample + 1, 0, vocabulary);
        for (std::int64_t i = 0; i <= settings_.length; ++i) {
            if (i < settings_.length) {
                store(input, i, static_cast<std::int32_t>(token));
            }
            if (i > 0 && !target.empty()) {
                store(target, i - 1, static_cast<std::int32_t>(token));
            }
            const auto place = static_cast<std::uint64_t>(i) + 1;
            const bool surprise = noise_.below(sample + 1, 2 * place, 10) == 0;
            token = surprise ? noise_.below(sample + 1, 2 * place + 1, vocabulary)
                             : rule_.below(0, token, vocabulary);
        }
    }

    void keep() {
        const std::int64_t elements = info_.input.shape.elements();
        if (samples_ <= kKeptImageBytes / KeptRows<float>::bytes(1, elements)) {
            images_.emplace(samples_, elements);
        } else if (settings_.classes <=
                   kKeptImageBytes / KeptRows<double>::bytes(1, elements * kWaves)) {
            patterns_.emplace(settings_.classes, elements * kWaves);
        }
    }

    void read_image(std::int64_t index, std::span<std::byte> input) const {
        const auto sample = static_cast<std::uint64_t>(first_ + index);
        if (images_) {
            const auto image = images_->row(index, [&](std::span<float> out) {
                make_image(sample, std::as_writable_bytes(out));
            });
            std::memcpy(input.data(), image.data(), image.size_bytes());
        } else {
            make_image(sample, input);
        }
    }

    // A sum of three waves per class and channel, between 0 and 1, with noise of 0.1.
    void make_image(std::uint64_t sample, std::span<std::byte> input) const {
        const std::int32_t label = class_of(sample);
        std::vector<double> own;
        std::span<const double> heights; // [elements, kWaves]
        if (patterns_) {
            heights =
                patterns_->row(label, [&](std::span<double> out) { make_pattern(label, out); });
        } else {
            own.resize(static_cast<std::size_t>(info_.input.shape.elements() * kWaves));
            make_pattern(label, own);
            heights = own;
        }
        for (std::int64_t at = 0; at < info_.input.shape.elements(); ++at) {
            double value = 0.5 + 0.1 * noise_.normal(sample + 1, static_cast<std::uint64_t>(at));
            for (std::int64_t i = 0; i < kWaves; ++i) {
                value += heights[static_cast<std::size_t>(at * kWaves + i)];
            }
            store(input, at, static_cast<float>(std::clamp(value, 0.0, 1.0)));
        }
    }

    /// Height of each wave at each element of an image: added up one by one behind the noise, so
    /// that a kept pattern changes no bit of a sample.
    void make_pattern(std::int32_t label, std::span<double> out) const {
        const std::int64_t width = settings_.image[1];
        const std::int64_t channels = settings_.image[2];
        const std::vector<Wave> waves = waves_of(static_cast<std::uint64_t>(label));
        for (std::int64_t at = 0; at < info_.input.shape.elements(); ++at) {
            const std::int64_t pixel = at / channels;
            const Wave* wave = waves.data() + at % channels * kWaves;
            for (std::int64_t i = 0; i < kWaves; ++i, ++wave) {
                out[static_cast<std::size_t>(at * kWaves + i)] =
                    0.15 * std::sin(wave->across * static_cast<double>(pixel % width) +
                                    wave->down * static_cast<double>(pixel / width) + wave->phase);
            }
        }
    }

    /// kWaves per channel; between one and three periods over the image.
    std::vector<Wave> waves_of(std::uint64_t label) const {
        constexpr double kTurn = 2.0 * std::numbers::pi;
        std::vector<Wave> waves;
        for (std::int64_t i = 0; i < settings_.image[2] * kWaves; ++i) {
            const PhiloxCounter words = rule_.block(label, static_cast<std::uint64_t>(i));
            waves.push_back({kTurn * (1.0 + 2.0 * uniform_01(words[0])) /
                                 static_cast<double>(settings_.image[1]),
                             kTurn * (1.0 + 2.0 * uniform_01(words[1])) /
                                 static_cast<double>(settings_.image[0]),
                             kTurn * uniform_01(words[2])});
        }
        return waves;
    }

    void make_point(std::uint64_t sample, std::span<std::byte> input) const {
        const auto label = static_cast<std::uint64_t>(class_of(sample));
        for (std::int64_t i = 0; i < settings_.features; ++i) {
            const auto place = static_cast<std::uint64_t>(i);
            store(input, i, rule_.normal(label, place) + 0.7F * noise_.normal(sample + 1, place));
        }
    }

    void make_regression(std::uint64_t sample, std::span<std::byte> input,
                         std::span<std::byte> target) const {
        std::vector<double> features(static_cast<std::size_t>(settings_.features));
        for (std::size_t i = 0; i < features.size(); ++i) {
            const float value = noise_.normal(sample + 1, i);
            features[i] = value;
            store(input, static_cast<std::int64_t>(i), value);
        }
        if (target.empty()) {
            return;
        }
        const double scale = 1.0 / std::sqrt(static_cast<double>(features.size()));
        for (std::int64_t k = 0; k < settings_.targets; ++k) {
            double sum = 0;
            for (std::size_t i = 0; i < features.size(); ++i) {
                sum += features[i] * rule_.normal(static_cast<std::uint64_t>(k), i);
            }
            const double noise =
                0.05 * noise_.normal(sample + 1, features.size() + static_cast<std::uint64_t>(k));
            store(target, k, static_cast<float>(std::tanh(sum * scale) + noise));
        }
    }

    Synthetic settings_;
    RandomStream rule_;
    RandomStream noise_;
    std::int64_t first_;
    std::int64_t samples_;
    SampleInfo info_;
    std::string fingerprint_;
    std::optional<KeptRows<float>> images_;    // the whole set
    std::optional<KeptRows<double>> patterns_; // of each class
};

config::FieldTable synthetic_fields() {
    constexpr double kMost = 1 << 30;
    return {
        config::choice_field("kind", nullptr, {"tokens", "images", "regression", "classification"},
                             "What is made.")
            .must_be_given(),
        config::integer_field("samples", 10000,
                              "How many training samples; the test part has a fifth.")
            .range(1, kMost),
        config::integer_field("length", nullptr,
                              "For tokens: tokens per sample; null: the model's context.")
            .or_null()
            .range(1, 1 << 24)
            .in("tokens"),
        config::integer_field("vocab", 64, "For tokens: number of different tokens.")
            .range(2, 1 << 24),
        config::list_field(
            "shape", config::Json::array({28, 28, 1}),
            config::integer_field("extent", nullptr, "Extent.").must_be_given().range(1, 4096),
            "For images: height, width, channels."),
        config::integer_field("classes", 10, "For images and classification: number of classes.")
            .range(2, 1 << 24),
        config::integer_field("features", 16,
                              "For regression and classification: numbers per sample.")
            .range(1, 1 << 24),
        config::integer_field("targets", 1, "For regression: numbers to predict.")
            .range(1, 1 << 24),
        config::integer_field("seed", 0, "Chooses the rule and the samples.").at_least(0)};
}

std::shared_ptr<const SyntheticSource> make_synthetic(const config::Json& settings,
                                                      const OpenContext& context, Part part) {
    Synthetic made;
    made.kind = settings.at("kind").get<std::string>();
    made.samples = settings.at("samples").get<std::int64_t>();
    const config::Json& length = settings.at("length");
    made.length = length.is_null() ? context.sequence_length : length.get<std::int64_t>();
    made.vocabulary = settings.at("vocab").get<std::int64_t>();
    made.image = settings.at("shape").get<std::vector<std::int64_t>>();
    made.classes = settings.at("classes").get<std::int64_t>();
    made.features = settings.at("features").get<std::int64_t>();
    made.targets = settings.at("targets").get<std::int64_t>();
    made.seed = settings.at("seed").get<std::uint64_t>();
    if (made.kind == "tokens" && made.length < 1) {
        throw Error(ErrorKind::data, "synthetic tokens",
                    "no length is given and the model has no context",
                    "Set data.train.length or use a language model.");
    }
    if (made.kind == "images" && made.image.size() != 3) {
        throw Error(ErrorKind::data, "synthetic images",
                    "shape has " + std::to_string(made.image.size()) + " extents",
                    "Write shape as [height, width, channels].");
    }
    std::string fingerprint = "synthetic " + settings.dump() + " length " +
                              std::to_string(made.length) + (part == Part::test ? " test" : "");
    return std::make_shared<SyntheticSource>(std::move(made), part, std::move(fingerprint));
}

std::shared_ptr<const Source> open_synthetic(const config::Json& settings,
                                             const OpenContext& context, Part part, Notes&) {
    return make_synthetic(settings, context, part);
}

PartOutline outline_synthetic(const config::Json& settings, const OpenContext& context, Part part,
                              Files) {
    const auto source = make_synthetic(settings, context, part); // holds no samples
    return {source->info(), source->samples(), source->cache_bytes(), ""};
}

bool sniff_synthetic(const std::filesystem::path&) {
    return false;
}

bool synthetic_has_test(const config::Json&, const OpenContext&) {
    return true;
}

} // namespace

const FormatDef kSyntheticFormat = {
    .name = "synthetic",
    .help = "Data made on the fly: learnable, the same on every machine.",
    .split_rule = SplitRule::by_class,
    .fields = synthetic_fields,
    .sniff = sniff_synthetic,
    .has_test = synthetic_has_test,
    .open = open_synthetic,
    .outline = outline_synthetic};

} // namespace weft::data
