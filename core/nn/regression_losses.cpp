// SPDX-License-Identifier: Apache-2.0
// Losses of numbers: the mean over a sample's values of a function of the error x = prediction -
// target. All but mse grow as |x| far from 0, so that outliers pull less.
#include "core/nn/loss_def.h"

#include <numbers>

namespace weft::nn {
namespace {

using config::Json;

ir::ValueId mean_of(ops::Builder& b, ir::ValueId terms) {
    return ops::reduce_mean(b, terms, {1});
}

ir::ValueId build_mse(ops::Builder& b, const Json&, const Prediction& p) {
    return mean_of(b, b.emit("square", {error_of(b, p)}));
}

ir::ValueId build_mae(ops::Builder& b, const Json&, const Prediction& p) {
    return mean_of(b, b.emit("abs", {error_of(b, p)}));
}

/// x^2 / 2 up to |x| = delta, delta (|x| - delta / 2) from there on.
ir::ValueId huber(ops::Builder& b, ir::ValueId error, double delta) {
    const ir::ValueId size = b.emit("abs", {error});
    const ir::ValueId near = b.emit("minimum", {size, ops::constant(b, delta)});
    const ir::ValueId far = ops::sub(b, size, near);
    return ops::add(b, ops::affine(b, b.emit("square", {near}), 0.5), ops::affine(b, far, delta));
}

config::FieldTable huber_fields() {
    return {config::real_field("delta", 1.0, "Errors up to this one count by their square.")
                .above(0.0)};
}

ir::ValueId build_huber(ops::Builder& b, const Json& settings, const Prediction& p) {
    return mean_of(b, huber(b, error_of(b, p), settings.at("delta").get<double>()));
}

config::FieldTable smooth_l1_fields() {
    return {
        config::real_field("beta", 1.0, "Errors up to this one count by their square.").above(0.0)};
}

ir::ValueId build_smooth_l1(ops::Builder& b, const Json& settings, const Prediction& p) {
    const auto beta = settings.at("beta").get<double>();
    return mean_of(b, ops::affine(b, huber(b, error_of(b, p), beta), 1.0 / beta));
}

/// log(cosh(x)) = |x| + log(1 + exp(-2 |x|)) - log(2), which does not overflow.
ir::ValueId build_log_cosh(ops::Builder& b, const Json&, const Prediction& p) {
    const ir::ValueId size = b.emit("abs", {error_of(b, p)});
    const ir::ValueId small = b.emit("exp", {ops::affine(b, size, -2.0)});
    const ir::ValueId tail = b.emit("log", {ops::affine(b, small, 1.0, 1.0)});
    return mean_of(b, ops::affine(b, ops::add(b, size, tail), 1.0, -std::numbers::ln2));
}

config::FieldTable quantile_fields() {
    return {config::real_field("quantile", 0.5,
                               "Share of the targets that lie below a perfect prediction.")
                .range(0.001, 0.999)};
}

ir::ValueId build_quantile(ops::Builder& b, const Json& settings, const Prediction& p) {
    const auto quantile = settings.at("quantile").get<double>();
    const ir::ValueId error = error_of(b, p);
    return mean_of(b, b.emit("maximum", {ops::affine(b, error, 1.0 - quantile),
                                         ops::affine(b, error, -quantile)}));
}

} // namespace

ir::ValueId error_of(ops::Builder& b, const Prediction& p) {
    const ir::Shape shape = b.shape(p.output);
    const ir::ValueId target = ops::cast(b, ops::reshape(b, p.target, shape), ir::DType::f32);
    return ops::sub(b, ops::cast(b, p.output, ir::DType::f32), target);
}

const LossDef kMseLoss = {"mse", "Mean squared error over a sample's values.", no_loss_fields, false,
                          build_mse};
const LossDef kMaeLoss = {"mae", "Mean absolute error over a sample's values.", no_loss_fields, false,
                          build_mae};
// Huber 1964
const LossDef kHuberLoss = {"huber", "Half the squared error, and straight from delta on.",
                            huber_fields, false, build_huber};
// Girshick 2015
const LossDef kSmoothL1Loss = {"smooth_l1", "Absolute error, rounded off below beta.",
                               smooth_l1_fields, false, build_smooth_l1};
const LossDef kLogCoshLoss = {"log_cosh", "Logarithm of the hyperbolic cosine of the error.",
                              no_loss_fields, false, build_log_cosh};
// Koenker and Bassett 1978
const LossDef kQuantileLoss = {"quantile", "Absolute error that weighs the two sides differently.",
                               quantile_fields, false, build_quantile};

} // namespace weft::nn
