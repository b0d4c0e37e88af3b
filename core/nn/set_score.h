// SPDX-License-Identifier: Apache-2.0
// Metrics of a whole evaluation set that are no reduction of terms: programs give a row of numbers
// per term, the host collects them over batches. Exact, whatever the batches and devices.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace weft::nn {

/// What the rows of a metric are of.
struct ScoredTargets {
    std::int64_t classes = 0; // 0: numbers, of which those above 0.5 count as labels
    std::int64_t values = 1;  // outputs per term
};

/// Collects one metric over one set; belongs to one thread.
class SetScore {
public:
    virtual ~SetScore() = default;
    /// The row of a term that counts.
    virtual void add(std::span<const float> row) = 0;
    /// Of all rows so far; NaN where they do not say.
    virtual double value() const = 0;
};

using MakeSetScore = std::unique_ptr<SetScore> (*)(const ScoredTargets& targets);

/// Rows: the class found and the true one, or K numbers of either kind. The mean over classes (or
/// labels) of 2 TP / (2 TP + FP + FN); classes that are neither found nor true are left out.
std::unique_ptr<SetScore> score_macro_f1(const ScoredTargets& targets);

/// Rows: K scores, then the class or K numbers. The mean over classes (or labels) of the
/// probability that one that is there has a higher score than one that is not; half of equal ones
/// (Mann and Whitney 1947). Classes that are nowhere, or everywhere, are left out.
std::unique_ptr<SetScore> score_auroc(const ScoredTargets& targets);

/// Rows: the probability of the class found, and 1 where it is true. Over 15 bins of equal width
/// the mean distance, by the terms in them, of the mean probability from the share that is true
/// (Guo et al. 2017, equation 3).
std::unique_ptr<SetScore> score_calibration(const ScoredTargets& targets);

/// Rows: a point of `values` numbers, and its label. The share of points whose nearest other one,
/// by cosine, has the same label; of more than 16,384 points the first are compared.
std::unique_ptr<SetScore> score_nearest(const ScoredTargets& targets);

} // namespace weft::nn
