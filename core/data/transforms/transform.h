// SPDX-License-Identifier: Apache-2.0
// The record of a transform of images f32[H,W,C], in place. Listed in transform_list.h.
#pragma once

#include "core/base/philox.h"
#include "core/data/dataset.h"

#include <memory>
#include <span>
#include <string_view>

namespace weft::data {

/// The random numbers of one sample in one epoch for one transform: as many as it asks for.
class Chance {
public:
    Chance(const RandomStream& stream, std::int64_t epoch, std::int64_t sample)
        : stream_(stream), epoch_(static_cast<std::uint64_t>(epoch)),
          sample_(static_cast<std::uint64_t>(sample)) {}

    std::uint32_t word() {
        if (taken_ % 4 == 0) { // a sample's number has less than 56 bits
            words_ = stream_.block(epoch_, sample_ + (taken_ / 4 << 56));
        }
        return words_[taken_++ % 4];
    }
    float uniform(float low, float high) { return low + (high - low) * uniform_01(word()); }
    /// In [0, bound), bound below 2^31.
    std::int64_t below(std::int64_t bound) {
        return static_cast<std::int64_t>(word() * static_cast<std::uint64_t>(bound) >> 32);
    }

private:
    const RandomStream& stream_;
    std::uint64_t epoch_, sample_, taken_ = 0;
    PhiloxCounter words_{};
};

class Transform {
public:
    virtual ~Transform() = default;
    /// Changes one sample (the elements of info().input). Deterministic transforms get no chance.
    /// Any thread.
    virtual void apply(std::span<float> sample, Chance* chance) const = 0;
};

struct TransformDef {
    std::string_view name;
    std::string_view help;
    bool random;    // for training only
    bool of_pixels; // takes values in 0..1, so it stands before what moves them
    config::FieldTable (*fields)();
    /// Throws weft::Error{data} at `where` when the samples do not suit it.
    std::unique_ptr<const Transform> (*make)(const config::Json& settings, const SampleInfo& info,
                                             const std::string& where);
};

/// Height, width and channels of image samples; Error{data} at `where` for anything else.
struct ImageShape {
    std::int64_t height, width, channels;
};
ImageShape image_shape(const SampleInfo& info, const std::string& where);

/// `source` with the "transforms" list applied: deterministic ones always, random ones in
/// read_in_epoch and only when `training`. Returns `source` itself when nothing is to do.
std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source,
                                          const config::Json& list, std::uint64_t seed,
                                          bool training);

/// The list with numbers where it leaves them to be learnt, from at most 10,000 samples of `train`
/// (before transforms) that lie evenly apart.
config::Json fitted_transforms(config::Json list, const Source& train);
/// The list as it was fitted for `train`, a source that `transformed` made of it or left alone.
config::Json fitted_for(const Source& train, const config::Json& list);

} // namespace weft::data
