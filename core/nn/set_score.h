// SPDX-License-Identifier: Apache-2.0
// Metrics of a whole evaluation set that are no reduction of terms: programs give a row of numbers
// per term, the host collects them over batches. Exact, whatever the batches and devices.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft::nn {

/// The text that tokens stand for.
using TextOf = std::function<std::string(std::span<const std::int32_t>)>;

/// What the rows of a metric are of.
struct ScoredTargets {
    std::int64_t classes = 0; // 0: numbers, of which those above 0.5 count as labels
    std::int64_t values = 1;  // outputs per term
    std::int64_t places = 1;  // numbers of a sample's target
    TextOf text = {};         // null: nobody knows it
};

/// Collects one metric over one set; belongs to one thread.
class SetScore {
public:
    virtual ~SetScore() = default;
    /// The row of a term or sample that counts.
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

/// Rows: a class per position, then the `places` symbols, from 1 and up to the first below. Edits
/// between what is read (symbols_of_path) and the symbols, by their number in the whole set.
std::unique_ptr<SetScore> score_edits(const ScoredTargets& targets);

/// Rows: the tokens that were written, then as many places with the true ones; below 0: none. BLEU
/// with up to four words and one reference, 0 to 1 (Papineni et al. 2002).
std::unique_ptr<SetScore> score_bleu(const ScoredTargets& targets);

/// What a path of classes reads: neighbours that are alike are one symbol, 0 is none (Graves et al.
/// 2006, section 3.1).
std::vector<std::int32_t> symbols_of_path(std::span<const float> path);

} // namespace weft::nn
