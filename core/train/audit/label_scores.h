// SPDX-License-Identifier: Apache-2.0
// Which samples a network does not believe, from what it says of each. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft::train {

/// log p(label) - max over the other classes of log p: the margin of logits, whose common term
/// cancels (Pleiss, Zhang, Elenberg, Weinberger 2020; averaged over training it is the area under
/// the margin). Below 0: another class is likelier. Probabilities below 1e-37 count as 1e-37.
/// `probabilities` [classes].
double margin_of(std::span<const float> probabilities, std::int32_t label);

/// -log p(label), with the same floor.
double loss_of(std::span<const float> probabilities, std::int32_t label);

struct ConfidentLabels {
    /// Of each class: the mean probability of the class among samples that are labelled so. NaN
    /// where there are none.
    std::vector<double> thresholds;
    /// Of each sample: the likeliest class among those whose threshold its probability reaches; -1
    /// where it reaches none. Where it is not the label, the sample counts off the diagonal of the
    /// confident joint (Northcutt, Jiang, Chuang 2021).
    std::vector<std::int32_t> believed;
};
/// `probabilities` [samples, classes], labels below 0 take no part.
ConfidentLabels confident_labels(std::span<const float> probabilities,
                                 std::span<const std::int32_t> labels, std::int64_t classes);

} // namespace weft::train
