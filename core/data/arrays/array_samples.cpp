// SPDX-License-Identifier: Apache-2.0
#include "core/data/arrays/array_samples.h"

#include "core/base/text.h"
#include "core/data/tables/table.h"
#include "core/data/wild_values.h"

#include <cmath>
#include <cstring>

namespace weft::data {

ArraySamples::ArraySamples(ArrayPair pair, InputForm form, const TargetFacts& targets,
                           std::shared_ptr<const ArrayEncoding> encoding)
    : pair_(std::move(pair)), form_(std::move(form)), encoding_(std::move(encoding)),
      width_(targets.width), info_(describe_arrays(pair_, form_, targets)) {
    info_.classes = width_ > 0 ? 0 : encoding_->classes;
    if (!info_.class_counts.empty()) { // of all classes of training
        info_.class_counts.resize(static_cast<std::size_t>(info_.classes));
    }
    fingerprint_ = "arrays " + shape_text(*pair_.inputs) + " crc32c " +
                   std::to_string(pair_.inputs->checksum());
    if (pair_.targets != nullptr) {
        fingerprint_ += ", " + shape_text(*pair_.targets) + " crc32c " +
                        std::to_string(pair_.targets->checksum());
    }
}

std::string ArraySamples::place_of(std::int64_t index) const {
    return pair_.inputs->name + ", row " + std::to_string(index);
}

TargetScale ArraySamples::target_scale() const {
    TargetScale out;
    for (const Moments& scale : encoding_->targets) {
        out.mean.push_back(scale.mean);
        out.scale.push_back(scale.deviation);
    }
    return out;
}

std::shared_ptr<const Source> ArraySamples::fitted(bool scale_targets,
                                                   std::span<const Run> training,
                                                   const OpenContext& context, Notes& notes) const {
    auto fit = std::make_shared<ArrayEncoding>(*encoding_);
    const bool sum_targets = width_ > 0 && scale_targets;
    const Sums sums = form_.standardize || sum_targets
                          ? sum(training, form_.standardize, sum_targets, context)
                          : no_sums();
    std::string wild;
    if (form_.standardize) {
        fit->inputs.clear();
        for (const MomentsOf& moments : sums.inputs) {
            fit->inputs.push_back(moments.moments());
        }
        wild = wild_inputs(pair_, form_, sums.largest_input);
    } else {
        wild = wild_inputs(pair_, form_);
    }
    if (!wild.empty()) {
        notes.push_back(std::move(wild));
    }
    if (width_ > 0) {
        fit->targets = scale_targets ? target_moments(sums, notes)
                                     : std::vector<Moments>(static_cast<std::size_t>(width_));
    }
    return with(std::move(fit));
}

ArraySamples::Sums ArraySamples::no_sums() const {
    Sums out;
    out.inputs.resize(form_.mean_count(static_cast<std::size_t>(pair_.inputs->row_elements())));
    out.targets.resize(static_cast<std::size_t>(width_));
    out.largest_targets.resize(out.targets.size());
    return out;
}

void ArraySamples::add_input(std::span<const double> numbers, Sums& sums) const {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double number = numbers[i] * form_.factor;
        sums.largest_input = larger(sums.largest_input, number);
        if (std::isfinite(numbers[i])) {
            sums.inputs[form_.mean_of(i, numbers.size())].add(number);
        }
    }
}

void ArraySamples::add_target(std::span<const double> numbers, Sums& sums) const {
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        sums.largest_targets[k] = larger(sums.largest_targets[k], numbers[k]);
        if (std::isfinite(numbers[k])) {
            sums.targets[k].add(numbers[k]);
        }
    }
}

std::vector<Moments> ArraySamples::target_moments(const Sums& sums, Notes& notes) const {
    std::vector<Moments> out;
    for (std::size_t k = 0; k < sums.targets.size(); ++k) {
        out.push_back(sums.targets[k].moments());
        if (std::string wild =
                wild_finding("targets of " + pair_.targets->name, sums.largest_targets[k], true);
            !wild.empty()) {
            notes.push_back(std::move(wild));
        }
    }
    notes.push_back(Note::decision(
        "targets are standardised: losses and errors are in units of their deviation, " +
        figure_text(out.front().deviation) + " (mean " + figure_text(out.front().mean) +
        (out.size() > 1 ? ") for the first" : ")")));
    return out;
}

void ArraySamples::write_numbers(std::span<const double> numbers,
                                 std::span<std::byte> target) const {
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        const Moments scale = encoding_->targets.empty() ? Moments{} : encoding_->targets[k];
        const auto value = static_cast<float>((numbers[k] - scale.mean) / scale.deviation);
        std::memcpy(target.data() + k * sizeof value, &value, sizeof value);
    }
}

} // namespace weft::data
