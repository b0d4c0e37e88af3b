// SPDX-License-Identifier: Apache-2.0
// Training samples that are made of two: mixup (Zhang et al. 2018, arXiv 1710.09412) and CutMix
// (Yun et al. 2019, arXiv 1905.04899), the list "mix" of the "data" section. Loaders do it, after
// all transforms; evaluation reads samples as they are.
#pragma once

#include "core/base/philox.h"
#include "core/data/sampler.h"

#include <memory>
#include <span>
#include <vector>

namespace weft::data {

/// What a sample is mixed with, and how.
struct Mix {
    std::int64_t other = -1; // position in the epoch; -1: the sample stays as it is
    float share = 1;         // of the sample itself
    /// The rectangle that becomes the other's; without one every number is blended.
    bool cut = false;
    std::int64_t top = 0, left = 0, height = 0, width = 0;
};

/// The class of the smaller share where samples have one class each.
struct OtherClass {
    std::int32_t label = 0;
    float share = 1; // of the class that is the target, from 1/2 to 1
};

/// A sample with room for it.
struct SampleBytes {
    std::span<std::byte> input;  // f32 of SampleInfo::input
    std::span<std::byte> target; // of SampleInfo::target
};

struct OtherSample {
    std::span<const std::byte> input, target;
};

/// Immutable, any thread.
class Mixing {
public:
    /// `list` as it was checked, not empty. Throws weft::Error{data} at /data/mix where the samples
    /// do not suit it.
    Mixing(const config::Json& list, const SampleInfo& info, std::uint64_t seed);

    /// A function of (seed, epoch, position) and of where the sample's mates lie. The share of the
    /// sample itself is drawn from Beta(alpha, alpha); that of a cut is what the rectangle leaves.
    Mix draw(std::int64_t epoch, std::int64_t position, const Stretch& mates) const;

    /// Mixes `other` into `own`. A class stays one: of the larger share, the sample's own at one
    /// half. Numbers to predict are blended as the inputs are. Where one of both has no class
    /// (below 0) nothing changes.
    OtherClass join(const Mix& mix, const SampleBytes& own, const OtherSample& other) const;

    /// Whether a sample may get a second class beside its target.
    bool of_classes() const { return of_classes_; }

    /// The sample at a position of an epoch as training reads it. One whose mate is damaged stays
    /// as it is. `scratch` is kept from call to call. Throws as Source::read_in_epoch does.
    OtherClass read(const Source& source, const Sampler& sampler, std::int64_t epoch,
                    std::int64_t position, const SampleBytes& out,
                    std::vector<std::byte>& scratch) const;

private:
    struct Kind {
        bool cuts;
        float alpha, probability;
    };

    void cut_out(Mix& mix, float share, std::int64_t row, std::int64_t column) const;

    std::vector<Kind> kinds_;
    ir::Shape input_; // [H,W,C] where a kind cuts
    bool of_classes_;
    RandomStream stream_;
};

/// Null where `list` is empty. Throws as Mixing does.
std::shared_ptr<const Mixing> mixing_of(const config::Json& list, const SampleInfo& info,
                                        std::uint64_t seed);
/// Whether a sample of the training step has a second class beside its target.
bool mixes_classes(const config::Json& list, const SampleInfo& info);

/// The records of the list "mix".
std::vector<config::RecordType> mix_records();

} // namespace weft::data
