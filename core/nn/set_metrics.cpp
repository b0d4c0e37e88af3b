// SPDX-License-Identifier: Apache-2.0
// Metrics of a whole evaluation set, and those of the ranking of classes and of labels.
#include "core/nn/functions.h"
#include "core/nn/loss_def.h"

#include <algorithm>

namespace weft::nn {
namespace {

constexpr std::int64_t kTop = 5;

bool has_classes(ops::Builder& b, const Prediction& p) {
    return !ir::is_float(b.type(p.target).dtype);
}

ir::ValueId in_f32(ops::Builder& b, ir::ValueId x) {
    return ops::cast(b, x, ir::DType::f32);
}

/// Parts [..., k] beside each other.
ir::ValueId beside(ops::Builder& b, ir::ValueIds parts) {
    return b.emit("concat", parts, {{"dim", std::int64_t{b.shape(parts[0]).rank() - 1}}});
}

ir::ValueId scores_and_targets(ops::Builder& b, const Prediction& p) {
    const ir::ValueId scores = in_f32(b, p.meaning);
    return beside(b, {scores, has_classes(b, p)
                                  ? as_column(b, in_f32(b, p.target))
                                  : in_f32(b, ops::reshape(b, p.target, b.shape(scores)))});
}

ir::ValueId found_and_true(ops::Builder& b, const Prediction& p) {
    if (!has_classes(b, p)) {
        return scores_and_targets(b, p);
    }
    return beside(b, {as_column(b, in_f32(b, b.emit("argmax", {p.output}))),
                      as_column(b, in_f32(b, p.target))});
}

ir::ValueId confidence_and_correct(ops::Builder& b, const Prediction& p) {
    const std::vector<std::int64_t> last = {b.shape(p.meaning).rank() - 1};
    return beside(b,
                  {b.emit("reduce_max", {in_f32(b, p.meaning)}, {{"dims", last}, {"keep", true}}),
                   as_column(b, b.emit("correct", {p.output, p.target}))});
}

/// 1 where the class is among the five of the largest logits, of equal ones the first.
ir::ValueId build_top5(ops::Builder& b, const Prediction& p) {
    const std::int64_t k = std::min(kTop, b.shape(p.output).back());
    const ir::ValueId indices = b.emit_all("top_k", {p.output}, {{"k", k}})[1];
    return sum_last(b, b.emit("equal", {in_f32(b, indices), as_column(b, in_f32(b, p.target))}));
}

/// The share of a sample's labels that are on the right side of a half.
ir::ValueId build_binary_accuracy(ops::Builder& b, const Prediction& p) {
    const ir::ValueId half = ops::constant(b, 0.5);
    const ir::ValueId target = in_f32(b, ops::reshape(b, p.target, b.shape(p.output)));
    return mean_last(b, b.emit("equal", {b.emit("less", {half, in_f32(b, p.output)}),
                                         b.emit("less", {half, target})}));
}

} // namespace

const MetricDef kTop5AccuracyMetric = {
    .name = "top5_accuracy",
    .help = "Share of terms whose true class is among the five most likely ones.",
    .needs_classes = true,
    .higher_is_better = true,
    .reduction = "mean",
    .build = build_top5};
const MetricDef kBinaryAccuracyMetric = {
    .name = "binary_accuracy",
    .help = "Share of labels that are found where they are, and not found where they are not.",
    .needs_classes = false,
    .higher_is_better = true,
    .reduction = "mean",
    .build = build_binary_accuracy,
    .of_labels = true};
const MetricDef kMacroF1Metric = {
    .name = "macro_f1",
    .help = "Mean over classes (or labels) of the harmonic mean of precision and recall.",
    .needs_classes = true,
    .higher_is_better = true,
    .reduction = "mean",
    .build = nullptr,
    .takes_either = true,
    .row = found_and_true,
    .score = score_macro_f1,
    .of_labels = true};
const MetricDef kAurocMetric = {
    .name = "auroc",
    .help = "Mean over classes (or labels) of the area under the curve of true over false alarms.",
    .needs_classes = true,
    .higher_is_better = true,
    .reduction = "mean",
    .build = nullptr,
    .takes_either = true,
    .row = scores_and_targets,
    .score = score_auroc,
    .row_of_all_values = true,
    .of_labels = true};
const MetricDef kCalibrationErrorMetric = {
    .name = "calibration_error",
    .help = "How far the probability of the class found is from how often it is true.",
    .needs_classes = true,
    .higher_is_better = false,
    .reduction = "mean",
    .build = nullptr,
    .row = confidence_and_correct,
    .score = score_calibration};

} // namespace weft::nn
