// SPDX-License-Identifier: Apache-2.0
// Records of losses and metrics. Both give one number per loss term (a sample, or a position of a
// language model); the program weights and sums losses, and reduces metrics as their records say.
#pragma once

#include "core/config/field.h"
#include "core/nn/model_context.h"

#include <array>
#include <optional>
#include <string_view>

namespace weft::nn {

/// Prediction and target of one microbatch.
struct Prediction {
    ir::ValueId output; // [B, classes], [B, K] or [B, T, vocab]
    ir::ValueId target; // i32[B], f32[B, ...] or i32[B, T]
    // Of samples that are made of two; else invalid.
    ir::ValueId other = {}; // i32[B], the class of the smaller share
    ir::ValueId share = {}; // f32[B], that of `target`
};

struct LossDef {
    std::string_view name;
    std::string_view help;
    config::FieldTable (*fields)();
    bool needs_classes; // targets are class numbers
    /// -> f32 per term: [B] or [B, T]; an ignored target (< 0) gives 0.
    ir::ValueId (*build)(ops::Builder& builder, const config::Json& settings,
                         const Prediction& prediction);
};

struct MetricDef {
    std::string_view name;
    std::string_view help;
    bool needs_classes;
    bool higher_is_better;
    std::string_view reduction; // of its terms, by name (reduction.h)
    /// -> f32 per term; null when the metric follows from the mean loss.
    ir::ValueId (*build)(ops::Builder& builder, const Prediction& prediction);
    /// Metric from the mean cross-entropy in nats; null when `build` gives it.
    double (*from_loss)(double loss);
    bool in_target_units = false; // as many times larger as the targets are
};

extern const LossDef kCrossEntropyLoss;
extern const LossDef kFocalLoss;
extern const LossDef kMseLoss;
extern const LossDef kMaeLoss;
extern const LossDef kHuberLoss;
extern const LossDef kSmoothL1Loss;
extern const LossDef kLogCoshLoss;
extern const LossDef kQuantileLoss;
inline constexpr std::array kLosses = {&kCrossEntropyLoss, &kFocalLoss,   &kMseLoss,
                                       &kMaeLoss,          &kHuberLoss,   &kSmoothL1Loss,
                                       &kLogCoshLoss,      &kQuantileLoss};

extern const MetricDef kAccuracyMetric;
extern const MetricDef kPerplexityMetric;
extern const MetricDef kBitsPerByteMetric;
extern const MetricDef kMeanAbsoluteErrorMetric;
extern const MetricDef kLargestErrorMetric;
inline constexpr std::array kMetrics = {&kAccuracyMetric, &kPerplexityMetric, &kBitsPerByteMetric,
                                        &kMeanAbsoluteErrorMetric, &kLargestErrorMetric};

/// Null when there is none of this name.
const LossDef* find_loss(std::string_view name);
const MetricDef* find_metric(std::string_view name);

/// Prediction minus target of values [B, K], in f32.
ir::ValueId error_of(ops::Builder& builder, const Prediction& prediction);

/// 1 where a class target counts, 0 where it is ignored (< 0): f32 of the target's shape.
ir::ValueId counted_targets(ops::Builder& builder, ir::ValueId target);

} // namespace weft::nn
