// SPDX-License-Identifier: Apache-2.0
// Losses of what a sample's outputs say together: which labels it has, what share each of them
// has, where the outputs point.
#include "core/nn/functions.h"
#include "core/nn/loss_def.h"

#include <limits>

namespace weft::nn {
namespace {

using config::Json;

ir::ValueId outputs_of(ops::Builder& b, const Prediction& p) {
    return ops::cast(b, p.output, ir::DType::f32);
}

ir::ValueId numbers_of(ops::Builder& b, const Prediction& p) {
    return ops::cast(b, ops::reshape(b, p.target, b.shape(p.output)), ir::DType::f32);
}

ir::ValueId sigmoid_of(ops::Builder& b, ir::ValueId output) {
    return b.emit("sigmoid", {ops::cast(b, output, ir::DType::f32)});
}

ir::ValueId expected_labels(ops::Builder& b, const Json&, ir::ValueId output) {
    return sigmoid_of(b, output);
}

ir::ValueId expected_shares(ops::Builder& b, const Json&, ir::ValueId output) {
    return b.emit("softmax", {ops::cast(b, output, ir::DType::f32)});
}

config::FieldTable bce_fields() {
    return {config::real_field("positive_weight", 1.0,
                               "How many times a label counts that a sample has, beside one that "
                               "it has not.")
                .above(0.0)};
}

/// softplus(x) - t x, and with a weight w of what is there: (1 - t) x + (1 + (w - 1) t)
/// softplus(-x).
ir::ValueId bce_of(ops::Builder& b, double weight, ir::ValueId x, ir::ValueId t) {
    if (weight == 1.0) {
        return mean_last(b, ops::sub(b, softplus(b, x), ops::mul(b, x, t)));
    }
    const ir::ValueId absent = ops::mul(b, ops::affine(b, t, -1.0, 1.0), x);
    const ir::ValueId missed = softplus(b, ops::affine(b, x, -1.0));
    return mean_last(
        b, ops::add(b, absent, ops::mul(b, ops::affine(b, t, weight - 1.0, 1.0), missed)));
}

ir::ValueId build_bce(ops::Builder& b, const Json& settings, const Prediction& p) {
    const auto weight = settings.at("positive_weight").get<double>();
    const ir::ValueId x = outputs_of(b, p);
    if (ir::is_float(b.type(p.target).dtype)) {
        return bce_of(b, weight, x, numbers_of(b, p));
    }
    return by_shares(b, p, [&](ir::ValueId target) {
        const ir::ValueId loss = bce_of(b, weight, x, one_hot(b, target, b.shape(x).back()));
        return ops::mul(b, loss, counted_targets(b, target));
    });
}

/// sum t (log t - log_softmax(x)); a share of 0 adds nothing.
ir::ValueId build_kl(ops::Builder& b, const Json&, const Prediction& p) {
    const ir::ValueId t = numbers_of(b, p);
    const ir::ValueId positive = b.emit(
        "maximum", {t, ops::constant(b, static_cast<double>(std::numeric_limits<float>::min()))});
    const ir::ValueId apart =
        ops::sub(b, b.emit("log", {positive}), log_softmax(b, outputs_of(b, p)));
    return sum_last(b, ops::mul(b, t, apart));
}

/// 1 / max(|x|, 1e-8) over the last dimension.
ir::ValueId inverse_length(ops::Builder& b, ir::ValueId x) {
    const ir::ValueId squares = sum_last(b, b.emit("square", {x}));
    return b.emit("rsqrt", {b.emit("maximum", {squares, ops::constant(b, 1e-16)})});
}

ir::ValueId build_cosine(ops::Builder& b, const Json&, const Prediction& p) {
    const ir::ValueId x = outputs_of(b, p);
    const ir::ValueId t = numbers_of(b, p);
    const ir::ValueId along = ops::mul(b, sum_last(b, ops::mul(b, x, t)), inverse_length(b, x));
    return ops::affine(b, ops::mul(b, along, inverse_length(b, t)), -1.0, 1.0);
}

config::FieldTable dice_fields() {
    return {config::real_field("smooth", 1.0,
                               "Added above and below the line, so that a sample without labels "
                               "has a loss, too.")
                .above(0.0)};
}

/// 1 - (2 sum(p t) + smooth) / (sum(p) + sum(t) + smooth) with p = sigmoid(x).
ir::ValueId build_dice(ops::Builder& b, const Json& settings, const Prediction& p) {
    const auto smooth = settings.at("smooth").get<double>();
    const ir::ValueId found = sigmoid_of(b, p.output);
    const ir::ValueId t = numbers_of(b, p);
    const ir::ValueId both = ops::affine(b, sum_last(b, ops::mul(b, found, t)), 2.0, smooth);
    const ir::ValueId all = ops::affine(b, sum_last(b, ops::add(b, found, t)), 1.0, smooth);
    return ops::affine(b, ops::div(b, both, all), -1.0, 1.0);
}

} // namespace

const LossDef kBceLoss = {
    .name = "bce",
    .help = "Binary cross-entropy of logits, mean over labels: for samples of any number of labels "
            "(targets 0 to 1), or one class against each other.",
    .fields = bce_fields,
    .needs_classes = false,
    .build = build_bce,
    .expected = expected_labels,
    .takes_either = true,
    .of_shares = true};
const LossDef kKlLoss = {
    .name = "kl",
    .help = "Kullback-Leibler divergence of the outputs' softmax from targets that add up to 1.",
    .fields = no_loss_fields,
    .needs_classes = false,
    .build = build_kl,
    .expected = expected_shares,
    .of_shares = true};
const LossDef kCosineLoss = {.name = "cosine",
                             .help = "1 - the cosine of the angle between outputs and targets.",
                             .fields = no_loss_fields,
                             .needs_classes = false,
                             .build = build_cosine};
// Milletari et al. 2016, with sums in place of sums of squares
const LossDef kDiceLoss = {
    .name = "dice",
    .help = "1 - how much the labels of a sample (targets 0 to 1) and those found overlap.",
    .fields = dice_fields,
    .needs_classes = false,
    .build = build_dice,
    .expected = expected_labels,
    .of_shares = true};

} // namespace weft::nn
