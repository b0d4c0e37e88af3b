// SPDX-License-Identifier: Apache-2.0
#include "core/data/transforms/mixing.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/stage_meter.h"
#include "core/data/transforms/transform.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace weft::data {
namespace {

using config::Json;

constexpr std::string_view kMixup = "mixup";
constexpr std::string_view kCutmix = "cutmix";

/// From Beta(alpha, alpha), alpha > 0: with T of Student's distribution of 2 alpha degrees, as
/// Bailey 1994 ("Polar generation of random variates with the t-distribution", Math. Comp. 62) has
/// it from two uniform numbers, (1 + T / sqrt(2 alpha + T^2)) / 2 (Devroye 1986, chapter IX.3).
float symmetric_beta(double alpha, std::uint32_t first, std::uint32_t second) {
    const double power = std::pow(static_cast<double>(uniform_open(first)), 1 / alpha);
    const double cosine = std::cos(2 * std::numbers::pi * static_cast<double>(uniform_01(second)));
    const double square = power / (1 - power); // infinite at 1, where the result is one half
    return static_cast<float>((1 + cosine / std::sqrt(square + cosine * cosine)) / 2);
}

void require_aligned(std::span<const std::byte> bytes) {
    WEFT_CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(float) == 0,
               "sample buffers are aligned for their numbers");
}

void blend(std::span<std::byte> own, std::span<const std::byte> other, float share) {
    require_aligned(own);
    require_aligned(other);
    auto* to = reinterpret_cast<float*>(own.data());
    const auto* from = reinterpret_cast<const float*>(other.data());
    for (std::size_t i = 0; i < own.size() / sizeof(float); ++i) {
        to[i] = share * to[i] + (1.0F - share) * from[i];
    }
}

std::int32_t class_of(std::span<const std::byte> target) {
    std::int32_t label = 0;
    std::memcpy(&label, target.data(), sizeof(label));
    return label;
}

bool has_one_class(const SampleInfo& info) {
    return info.classes > 0 && info.target.dtype == ir::DType::i32 && info.target.shape.rank() == 0;
}

config::FieldTable mix_fields(double alpha) {
    return {
        config::real_field("alpha", alpha,
                           "The share of a sample is drawn from Beta(alpha, alpha): near 0 or 1 "
                           "for small ones, evenly for 1.")
            .above(0)
            .range(0, 1000),
        config::real_field("probability", 1.0, "Share of the samples that are mixed.").range(0, 1)};
}

void require_mixable(std::string_view name, const SampleInfo& info, const std::string& where) {
    const bool numbers = info.classes == 0 && info.target.dtype == ir::DType::f32;
    if (info.input.dtype != ir::DType::f32 || !(has_one_class(info) || numbers)) {
        throw Error(ErrorKind::data, where,
                    std::string(name) +
                        " is for inputs that are numbers with one class or numbers "
                        "to predict; the samples are " +
                        ir::to_text(info.input) + " with targets " + ir::to_text(info.target),
                    "Leave data.mix out.");
    }
    if (name == kMixup) {
        return;
    }
    image_shape(info, where);
    if (numbers) {
        throw Error(ErrorKind::data, where,
                    "cutmix is for classes: numbers to predict are no sum of parts of an image",
                    "Use mixup, or leave data.mix out.");
    }
}

} // namespace

Mixing::Mixing(const Json& list, const SampleInfo& info, std::uint64_t seed)
    : input_(info.input.shape), of_classes_(has_one_class(info)), stream_(seed, "data.mix") {
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto& name = list[i].at("type").get_ref<const std::string&>();
        require_mixable(name, info, "/data/mix/" + std::to_string(i));
        kinds_.push_back({name == kCutmix, list[i].at("alpha").get<float>(),
                          list[i].at("probability").get<float>()});
    }
    WEFT_CHECK(!kinds_.empty(), "a mixing has a kind");
}

// As the authors' program does: a side is cut off, not rounded, and what lies outside of the image
// is taken off the rectangle.
void Mixing::cut_out(Mix& mix, float share, std::int64_t row, std::int64_t column) const {
    const double side = std::sqrt(1.0 - static_cast<double>(share));
    const auto half = [side](std::int64_t extent) {
        return static_cast<std::int64_t>(side * static_cast<double>(extent)) / 2;
    };
    const std::int64_t high = half(input_[0]);
    const std::int64_t wide = half(input_[1]);
    mix.cut = true;
    mix.top = std::max<std::int64_t>(0, row - high);
    mix.left = std::max<std::int64_t>(0, column - wide);
    mix.height = std::min(input_[0], row + high) - mix.top;
    mix.width = std::min(input_[1], column + wide) - mix.left;
    mix.share = 1.0F - static_cast<float>(mix.height * mix.width) /
                           static_cast<float>(input_[0] * input_[1]);
}

Mix Mixing::draw(std::int64_t epoch, std::int64_t position, const Stretch& mates) const {
    Chance chance(stream_, epoch, position);
    const auto count = static_cast<std::int64_t>(kinds_.size());
    const Kind& kind = kinds_[static_cast<std::size_t>(chance.below(count))];
    if (uniform_01(chance.word()) >= kind.probability) {
        return {};
    }
    Mix mix;
    const std::uint64_t high = chance.word();
    const std::uint64_t bits = high << 32 | chance.word();
    // The bias is below count / 2^64.
    mix.other =
        mates.first + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(mates.count));
    const std::uint32_t first = chance.word();
    const float share = symmetric_beta(static_cast<double>(kind.alpha), first, chance.word());
    if (kind.cuts) {
        const std::int64_t row = chance.below(input_[0]);
        cut_out(mix, share, row, chance.below(input_[1]));
    } else {
        mix.share = share;
    }
    return mix;
}

OtherClass Mixing::join(const Mix& mix, const SampleBytes& own, const OtherSample& other) const {
    const std::int32_t label = of_classes_ ? class_of(own.target) : 0;
    const std::int32_t second = of_classes_ && mix.other >= 0 ? class_of(other.target) : 0;
    if (mix.other < 0 || label < 0 || second < 0) {
        return {label, 1};
    }
    const InStage mixing(Stage::transform);
    if (mix.cut) {
        const std::int64_t row = input_[1] * input_[2] * static_cast<std::int64_t>(sizeof(float));
        const std::int64_t pixel = input_[2] * static_cast<std::int64_t>(sizeof(float));
        for (std::int64_t y = mix.top; y < mix.top + mix.height; ++y) {
            const std::int64_t at = y * row + mix.left * pixel;
            std::copy_n(other.input.data() + at, mix.width * pixel, own.input.data() + at);
        }
    } else {
        blend(own.input, other.input, mix.share);
    }
    if (!of_classes_) {
        blend(own.target, other.target, mix.share);
        return {};
    }
    if (mix.share >= 0.5F) {
        return {second, mix.share};
    }
    std::copy(other.target.begin(), other.target.end(), own.target.begin());
    return {label, 1.0F - mix.share};
}

OtherClass Mixing::read(const Source& source, const Sampler& sampler, std::int64_t epoch,
                        std::int64_t position, const SampleBytes& out,
                        std::vector<std::byte>& scratch) const {
    source.read_in_epoch(sampler.index(epoch, position), epoch, out.input, out.target);
    Mix mix = draw(epoch, position, sampler.stretch(epoch, position));
    if (mix.other < 0) {
        return join(mix, out, {});
    }
    scratch.resize(out.input.size() + out.target.size());
    const SampleBytes other = {std::span(scratch).first(out.input.size()),
                               std::span(scratch).subspan(out.input.size())};
    try {
        source.read_in_epoch(sampler.index(epoch, mix.other), epoch, other.input, other.target);
    } catch (const DamagedSample&) { // it is told at its own position
        mix = {};
    }
    return join(mix, out, {other.input, other.target});
}

std::shared_ptr<const Mixing> mixing_of(const Json& list, const SampleInfo& info,
                                        std::uint64_t seed) {
    return list.empty() ? nullptr : std::make_shared<const Mixing>(list, info, seed);
}

bool mixes_classes(const Json& list, const SampleInfo& info) {
    return !list.empty() && has_one_class(info);
}

std::vector<config::RecordType> mix_records() {
    return {{std::string(kMixup),
             "Samples are blended with others, and so are their classes (Zhang et al. 2018).",
             mix_fields(0.2)},
            {std::string(kCutmix),
             "A rectangle of images becomes that of others, and classes count by their areas (Yun "
             "et al. 2019).",
             mix_fields(1.0)}};
}

} // namespace weft::data
