// SPDX-License-Identifier: Apache-2.0
// The two sources of a pair of arrays: samples at hand, and samples in blocks.
#pragma once

#include "core/data/arrays/array_form.h"
#include "core/data/split.h"

namespace weft::data {

/// What both are.
class ArraySamples : public Source {
public:
    ArraySamples(ArrayPair pair, InputForm form, const TargetFacts& targets,
                 std::shared_ptr<const ArrayEncoding> encoding);

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return pair_.inputs->samples(); }
    std::string place_of(std::int64_t index) const override;
    std::string fingerprint() const override { return fingerprint_; }
    std::shared_ptr<const Encoding> encoding() const override { return encoding_; }
    TargetScale target_scale() const override;

    /// The same with means and deviations of training samples; regression targets are scaled only
    /// where asked.
    std::shared_ptr<const Source> fitted(bool scale_targets, std::span<const Run> training,
                                         const OpenContext& context, Notes& notes) const;

protected:
    /// Sums over training samples, per mean of InputForm; `largest`: of all numbers, by size.
    struct Sums {
        std::vector<MomentsOf> inputs, targets;
        double largest_input = 0;
        std::vector<double> largest_targets;
    };
    Sums no_sums() const;
    void add_input(std::span<const double> numbers, Sums& sums) const;
    void add_target(std::span<const double> numbers, Sums& sums) const;
    /// `inputs`, `targets`: which of them are wanted.
    virtual Sums sum(std::span<const Run> training, bool inputs, bool targets,
                     const OpenContext& context) const = 0;
    virtual std::shared_ptr<const Source>
    with(std::shared_ptr<const ArrayEncoding> encoding) const = 0;

    /// `target` as scaled by the encoding.
    void write_numbers(std::span<const double> numbers, std::span<std::byte> target) const;
    std::int64_t target_width() const { return width_; }

    ArrayPair pair_;
    InputForm form_;
    std::shared_ptr<const ArrayEncoding> encoding_;

private:
    std::vector<Moments> target_moments(const Sums& sums, Notes& notes) const;

    std::int64_t width_;
    SampleInfo info_;
    std::string fingerprint_;
};

/// Targets in memory; inputs too, or any of them is read from a plain file.
std::shared_ptr<const ArraySamples> kept_arrays(ArrayPair pair, InputForm form,
                                                std::shared_ptr<const ArrayTargets> targets,
                                                std::shared_ptr<const ArrayEncoding> encoding);

/// Nothing in memory.
std::shared_ptr<const ArraySamples> streamed_arrays(ArrayPair pair, InputForm form,
                                                    const TargetFacts& targets,
                                                    std::shared_ptr<const ArrayEncoding> encoding);

/// Samples of the largest block of streamed_arrays.
std::int64_t largest_block(const ArrayPair& pair);

} // namespace weft::data
