// SPDX-License-Identifier: Apache-2.0
// What the numbers of an array mean: features or images as they go into a model, targets as classes
// or numbers, and what was learnt of them from training samples.
#pragma once

#include "core/data/arrays/array_data.h"
#include "core/data/formats/format.h"
#include "core/data/moments.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::data {

/// What the settings and shapes make of a pair of arrays.
struct ArrayPair {
    std::shared_ptr<const ArrayData> inputs;
    std::shared_ptr<const ArrayData> targets; // null: there are none
    std::string description;                  // "digits.npy": the pair in short
    bool streams = false;                     // too large to be kept

    std::int64_t bytes() const { return inputs->bytes() + (targets ? targets->bytes() : 0); }
};

/// "float32 [60000, 784]"
std::string shape_text(const ArrayData& array);

[[noreturn]] void fail_array(const std::string& where, const std::string& text,
                             const std::string& hint);

/// Means and deviations of the training samples, the number of classes, the side of the channels.
struct ArrayEncoding final : Encoding {
    std::vector<Moments> inputs;  // per feature; empty: inputs are not standardised
    std::vector<Moments> targets; // the same for targets
    std::int64_t classes = 0;     // 0: a regression
};

/// How the elements of an input make a sample.
struct InputForm {
    std::vector<std::int64_t> shape; // [F], or [H, W, C]
    bool channels_first = false;     // stored as [C, H, W]
    double factor = 1;
    bool standardize = false;

    bool is_image() const { return shape.size() == 3; }
    /// Whether samples go into a model as they are stored.
    bool is_as_stored(const ArrayData& array, std::span<const Moments> scales) const;
    /// One sample: its elements as stored become the numbers f32 of the model, by `scales` unless
    /// empty.
    void apply(const ArrayData& array, std::span<const std::byte> stored,
               std::span<const Moments> scales, std::span<std::byte> out) const;
    /// Means of a sample: one per feature, or per channel of images.
    std::size_t mean_count(std::size_t elements) const;
    /// The mean that element i, as stored, belongs to.
    std::size_t mean_of(std::size_t i, std::size_t elements) const;
};

/// From the settings array_fields(). Throws weft::Error{data} for more than three dimensions.
InputForm form_of(const ArrayData& inputs, const config::Json& settings, Notes& notes);

/// What targets are, learnt by reading all of them.
struct TargetFacts {
    std::int64_t width = 0; // numbers per sample to predict; 0: classes
    std::int64_t class_count = 0;
    std::int64_t unlabelled = 0;            // of the classes
    std::vector<std::int64_t> class_counts; // by class
};

/// Targets in memory: classes, or K numbers per sample.
struct ArrayTargets {
    TargetFacts facts;
    std::vector<std::int32_t> classes;
    std::vector<double> numbers;

    std::int64_t bytes() const {
        return static_cast<std::int64_t>(classes.capacity() * sizeof(std::int32_t) +
                                         numbers.capacity() * sizeof(double));
    }
};

/// A class from 0 on, -1 for none. Throws weft::Error{data} for any other number.
std::int32_t class_of(double value, const ArrayData& array, std::int64_t index);

/// Reads the targets; with constant memory unless they are kept. Throws weft::Error{data} where
/// they do not belong to the inputs or cannot be what they are to be.
enum class KeepTargets : std::uint8_t { yes, no };
ArrayTargets read_targets(const ArrayPair& pair, const config::Json& settings,
                          const OpenContext& context, KeepTargets keep);

void tell_unlabelled(const TargetFacts& targets, Notes& notes);

/// What a sample is.
SampleInfo describe_arrays(const ArrayPair& pair, const InputForm& form,
                           const TargetFacts& targets);

/// What there is to say of inputs whose largest number, by its size, is this; empty: nothing.
std::string wild_inputs(const ArrayPair& pair, const InputForm& form, double largest);
/// The same, from some samples from all over the file.
std::string wild_inputs(const ArrayPair& pair, const InputForm& form);
/// The larger one of two numbers by size; NaN is none.
double larger(double largest, double number);

} // namespace weft::data
