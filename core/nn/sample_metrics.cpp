// SPDX-License-Identifier: Apache-2.0
// What is said of a sample as a whole: whether every prediction of it is right, and what a model
// that works on samples step by step (Graves 2016) says of that itself.
#include "core/nn/loss_def.h"

namespace weft::nn {
namespace {

using ir::ValueId;

ValueId inverted(ops::Builder& b, ValueId flag) {
    return ops::affine(b, flag, -1.0, 1.0);
}

/// 1 where every target that counts is met: f32[B].
ValueId whole_samples(ops::Builder& b, const Prediction& p) {
    ValueId wrong = ops::mul(b, counted_targets(b, p.target),
                             inverted(b, b.emit("correct", {p.output, p.target})));
    if (b.shape(wrong).rank() == 2) {
        wrong = ops::reduce_sum(b, wrong, {1});
    }
    return inverted(b, b.emit("less", {ops::constant(b, 0.0), wrong}));
}

ValueId says_right(ops::Builder& b, const Prediction& p) {
    return b.emit("less", {ops::constant(b, 0.0), p.verdict.logit});
}

ValueId build_halting_accuracy(ops::Builder& b, const Prediction& p) {
    return b.emit("equal", {says_right(b, p), whole_samples(b, p)});
}

ValueId build_halting_steps(ops::Builder&, const Prediction& p) {
    return p.verdict.steps;
}

} // namespace

// log(1 + e^-|q|) + max(q, 0) - q y, which does not overflow
ValueId verdict_loss(ops::Builder& b, const Prediction& p) {
    const ValueId logit = ops::cast(b, p.verdict.logit, ir::DType::f32);
    const ValueId right = b.emit("stop_gradient", {whole_samples(b, p)});
    const ValueId small = b.emit("exp", {ops::affine(b, b.emit("abs", {logit}), -1.0)});
    const ValueId tail = b.emit("log", {ops::affine(b, small, 1.0, 1.0)});
    const ValueId positive = ops::sub(b, b.emit("relu", {logit}), ops::mul(b, logit, right));
    return ops::add(b, tail, positive);
}

const MetricDef kExactAccuracyMetric = {"exact_accuracy",
                                        "Share of samples of which every prediction is right.",
                                        true,
                                        true,
                                        "mean_of_samples",
                                        whole_samples,
                                        nullptr};
const MetricDef kHaltingAccuracyMetric = {
    .name = "halting_accuracy",
    .help = "Share of samples of which the model says rightly whether they are solved.",
    .needs_classes = true,
    .higher_is_better = true,
    .reduction = "mean_of_samples",
    .build = build_halting_accuracy,
    .from_loss = nullptr,
    .of_verdict = true};
const MetricDef kHaltingStepsMetric = {
    .name = "halting_steps",
    .help = "Mean number of steps until the model says that a sample is solved.",
    .needs_classes = true,
    .higher_is_better = false,
    .reduction = "mean_of_samples",
    .build = build_halting_steps,
    .from_loss = nullptr,
    .of_verdict = true};

} // namespace weft::nn
