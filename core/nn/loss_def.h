// SPDX-License-Identifier: Apache-2.0
// Records of losses and metrics. Both give one number per loss term (a sample, or a position of a
// language model); the program weights and sums losses, and reduces metrics as their records say.
#pragma once

#include "core/config/field.h"
#include "core/nn/model_context.h"
#include "core/nn/set_score.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::nn {

/// Prediction and target of one microbatch.
struct Prediction {
    ir::ValueId output; // [B, classes], [B, K] or [B, T, vocab]
    ir::ValueId target; // i32[B], f32[B, ...] or i32[B, T]
    // Of samples that are made of two; else invalid.
    ir::ValueId other = {}; // i32[B], the class of the smaller share
    ir::ValueId share = {}; // f32[B], that of `target`
    // Of losses whose target is the sample itself; else invalid and null.
    ir::ValueId input = {}; // f32[B, ...], as the model sees it
    const std::vector<std::pair<std::string, ir::ValueId>>* published = nullptr; // by the model
    const config::Json* settings = nullptr;                                      // of the loss
    // For metrics: what the loss says that the outputs mean (LossDef::expected). Numbers to
    // predict have it as `output`, too.
    ir::ValueId meaning = {};
    Verdict verdict = {}; // of models that give one
};

/// What a loss trains some of the parameters on.
struct Objective {
    std::string_view match; // pattern of their names
    ir::ValueId terms;      // f32, one per loss term
};

struct LossDef {
    std::string_view name;
    std::string_view help;
    config::FieldTable (*fields)();
    bool needs_classes; // targets are class numbers
    /// -> f32 per term: [B] or [B, T]; an ignored target (< 0) gives 0. Throws weft::Error{usage}
    /// where settings do not fit what is predicted.
    ir::ValueId (*build)(ops::Builder& builder, const config::Json& settings,
                         const Prediction& prediction);
    /// The target is the sample itself, and what data deliver as targets is not read.
    bool of_input = false;
    /// What an output [..., K] means, f32 in units of the target; null: the output itself, or of
    /// classes its probabilities.
    ir::ValueId (*expected)(ops::Builder& builder, const config::Json& settings,
                            ir::ValueId output) = nullptr;
    bool takes_either = false; // class numbers or numbers, whatever needs_classes says
    bool of_shares = false;    // numbers to predict are from 0 to 1: they are not standardised
    /// Rules between settings, and within one. Null: there are none.
    void (*check)(const config::Json& settings, const std::string& pointer,
                  config::Diagnostics& out) = nullptr;
    /// Whether perplexity follows from it. Null: it does not.
    bool (*in_nats)(const config::Json& settings) = nullptr;
    /// The logits whose softmax the loss takes for probabilities, of a model's output. Null: the
    /// output itself.
    ir::ValueId (*logits)(ops::Builder& builder, ir::ValueId output) = nullptr;
    /// Where parameters are trained on different things, as those of two networks that work against
    /// each other: what `build` sums, and whom each part of it trains. Every parameter has the
    /// first that matches. Null: all are trained on what `build` gives.
    std::vector<Objective> (*objectives)(ops::Builder& builder, const config::Json& settings,
                                         const Prediction& prediction) = nullptr;
    /// Of losses that compare samples with each other: numbers of the point that the model puts out
    /// for one, which predicts nothing. Null: the output is a prediction.
    std::int64_t (*point)(const config::Json& settings) = nullptr;
    /// Of losses of symbols in order: classes that the model puts out at each position, where it
    /// has as many positions as it likes. Null: the data say what is put out.
    std::int64_t (*symbols)(const config::Json& settings) = nullptr;
};

/// Of losses without settings.
inline config::FieldTable no_loss_fields() {
    return {};
}

struct MetricDef {
    std::string_view name;
    std::string_view help;
    bool needs_classes;
    bool higher_is_better;
    std::string_view reduction; // of its terms, by name (reduction.h)
    /// -> f32 per term; null when the metric follows from the mean loss.
    ir::ValueId (*build)(ops::Builder& builder, const Prediction& prediction);
    /// Metric from the mean cross-entropy in nats; null when `build` gives it.
    double (*from_loss)(double loss) = nullptr;
    bool in_target_units = false; // as many times larger as the targets are
    std::string_view part_of = {}; // the loss whose part it is, with whose settings it is built
    bool takes_either = false;    // class numbers or numbers, whatever needs_classes says
    /// Of a whole evaluation set, where `build` and `from_loss` are null: -> f32 [B, R] or
    /// [B, T, R], the row of each term, or sample.
    ir::ValueId (*row)(ops::Builder& builder, const Prediction& prediction) = nullptr;
    MakeSetScore score = nullptr;   // reads the rows; without `row` those of texts that are written
    bool row_of_all_values = false; // R grows with the classes
    bool of_verdict = false;       // needs a model that says when it has done with a sample
    bool of_labels = false;        // numbers to predict are labels, 0 and 1: not standardised
    bool of_points = false;        // of losses that ask for points
    bool of_symbols = false;       // of losses of symbols in order; a row is of a sample
    bool of_text = false;          // of what language models write: their tokens, the true ones
};

extern const LossDef kCrossEntropyLoss;
extern const LossDef kFocalLoss;
extern const LossDef kStablemaxLoss;
extern const LossDef kMseLoss;
extern const LossDef kMaeLoss;
extern const LossDef kHuberLoss;
extern const LossDef kSmoothL1Loss;
extern const LossDef kLogCoshLoss;
extern const LossDef kQuantileLoss;
extern const LossDef kElboLoss;
extern const LossDef kDenoisingLoss;
extern const LossDef kAdversarialLoss;
extern const LossDef kNegativeLogLikelihoodLoss;
extern const LossDef kBceLoss;
extern const LossDef kKlLoss;
extern const LossDef kCosineLoss;
extern const LossDef kDiceLoss;
extern const LossDef kExpressionLoss;
extern const LossDef kTripletLoss;
extern const LossDef kNtXentLoss;
extern const LossDef kCtcLoss;
inline constexpr std::array kLosses = {
    &kCrossEntropyLoss, &kFocalLoss,       &kMseLoss,
    &kMaeLoss,          &kHuberLoss,       &kSmoothL1Loss,
    &kLogCoshLoss,      &kQuantileLoss,    &kElboLoss,
    &kDenoisingLoss,    &kBceLoss,         &kKlLoss,
    &kCosineLoss,       &kDiceLoss,        &kExpressionLoss,
    &kStablemaxLoss,    &kAdversarialLoss, &kNegativeLogLikelihoodLoss,
    &kTripletLoss,      &kNtXentLoss,      &kCtcLoss};

extern const MetricDef kAccuracyMetric;
extern const MetricDef kPerplexityMetric;
extern const MetricDef kBitsPerByteMetric;
extern const MetricDef kMeanAbsoluteErrorMetric;
extern const MetricDef kLargestErrorMetric;
extern const MetricDef kReconstructionMetric;
extern const MetricDef kDivergenceMetric;
extern const MetricDef kGeneratorLossMetric;
extern const MetricDef kDiscriminatorLossMetric;
extern const MetricDef kRealScoreMetric;
extern const MetricDef kFakeScoreMetric;
extern const MetricDef kBitsPerDimensionMetric;
extern const MetricDef kExactAccuracyMetric;
extern const MetricDef kHaltingAccuracyMetric;
extern const MetricDef kHaltingStepsMetric;
extern const MetricDef kTop5AccuracyMetric;
extern const MetricDef kBinaryAccuracyMetric;
extern const MetricDef kMacroF1Metric;
extern const MetricDef kAurocMetric;
extern const MetricDef kCalibrationErrorMetric;
extern const MetricDef kNearestAccuracyMetric;
extern const MetricDef kSymbolErrorRateMetric;
extern const MetricDef kBleuMetric;
inline constexpr std::array kMetrics = {
    &kAccuracyMetric,          &kPerplexityMetric,    &kBitsPerByteMetric,
    &kMeanAbsoluteErrorMetric, &kLargestErrorMetric,  &kReconstructionMetric,
    &kDivergenceMetric,        &kTop5AccuracyMetric,  &kBinaryAccuracyMetric,
    &kMacroF1Metric,           &kAurocMetric,         &kCalibrationErrorMetric,
    &kNearestAccuracyMetric,   &kExactAccuracyMetric, &kHaltingAccuracyMetric,
    &kHaltingStepsMetric,      &kGeneratorLossMetric, &kDiscriminatorLossMetric,
    &kRealScoreMetric,         &kFakeScoreMetric,     &kBitsPerDimensionMetric,
    &kSymbolErrorRateMetric,   &kBleuMetric};

/// LossDef::logits, or the output as it is.
ir::ValueId logits_of(const LossDef& loss, ops::Builder& builder, ir::ValueId output);

/// Null when there is none of this name.
const LossDef* find_loss(std::string_view name);
const MetricDef* find_metric(std::string_view name);

/// Whether a loss takes such targets, and a metric goes with such a loss.
inline bool takes(const LossDef& loss, bool classes) {
    return loss.takes_either || loss.needs_classes == classes;
}

/// The loss of a class, or of two the mean by shares (Zhang et al. 2018, section 2).
template <class Loss>
ir::ValueId by_shares(ops::Builder& b, const Prediction& p, Loss loss) {
    if (!p.share.valid()) {
        return loss(p.target);
    }
    return ops::add(b, ops::mul(b, p.share, loss(p.target)),
                    ops::mul(b, ops::affine(b, p.share, -1.0, 1.0), loss(p.other)));
}

/// What the loss trains parameters on: its objectives, or the loss itself for all.
std::vector<Objective> objectives_of(const LossDef& loss, ops::Builder& builder,
                                     const config::Json& settings, const Prediction& prediction);
/// Term by term.
ir::ValueId sum_of(ops::Builder& builder, const std::vector<Objective>& objectives);

/// Whether the model published a value of this name, and the value in f32.
bool has_published(const Prediction& prediction, std::string_view name);
ir::ValueId published_value(ops::Builder& builder, const Prediction& prediction,
                            std::string_view name);

/// Prediction minus target of values [B, K], in f32.
ir::ValueId error_of(ops::Builder& builder, const Prediction& prediction);

/// -log p of values under independent coins of these logits, in nats, value by value: logits and
/// targets (from 0 to 1) f32 of one shape. Neither overflows nor loses its slope at 0.
ir::ValueId binary_cross_entropy(ops::Builder& builder, ir::ValueId logits, ir::ValueId targets);

/// Binary cross-entropy of the verdict's logit and whether the sample is right as a whole: f32[B].
ir::ValueId verdict_loss(ops::Builder& builder, const Prediction& prediction);

/// 1 where a class target counts, 0 where it is ignored (< 0): f32 of the target's shape.
ir::ValueId counted_targets(ops::Builder& builder, ir::ValueId target);

} // namespace weft::nn
