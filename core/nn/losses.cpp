// SPDX-License-Identifier: Apache-2.0
#include "core/nn/loss_def.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::nn {
namespace {

using config::Json;

config::FieldTable cross_entropy_fields() {
    return {config::real_field("label_smoothing", 0.0,
                               "Share of the target spread evenly over all classes.")
                .range(0.0, 0.99)};
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

ir::ValueId build_cross_entropy(ops::Builder& b, const Json& settings, const Prediction& p) {
    return by_shares(b, p, [&](ir::ValueId target) {
        return b.emit("cross_entropy", {p.output, target},
                      {{"label_smoothing", settings.at("label_smoothing").get<double>()}});
    });
}

config::FieldTable focal_fields() {
    return {config::real_field("gamma", 2.0,
                               "How much less a term counts whose class is found already; 0 would "
                               "be cross_entropy.")
                .range(1.0, 10.0)}; // below 1 its slope is infinite where the class is certain
}

ir::ValueId build_focal(ops::Builder& b, const Json& settings, const Prediction& p) {
    const ir::ValueId gamma = ops::constant(b, settings.at("gamma").get<double>());
    return by_shares(b, p, [&](ir::ValueId target) {
        const ir::ValueId nats =
            b.emit("cross_entropy", {p.output, target}, {{"label_smoothing", 0.0}});
        const ir::ValueId missed = ops::affine(b, b.emit("exp", {ops::affine(b, nats, -1.0)}), -1.0,
                                               1.0); // 1 - p
        return ops::mul(b, b.emit("pow", {missed, gamma}), nats);
    });
}

ir::ValueId build_accuracy(ops::Builder& b, const Prediction& p) {
    return b.emit("correct", {p.output, p.target});
}

ir::ValueId build_mean_absolute_error(ops::Builder& b, const Prediction& p) {
    return ops::reduce_mean(b, b.emit("abs", {error_of(b, p)}), {1});
}

ir::ValueId build_largest_error(ops::Builder& b, const Prediction& p) {
    return b.emit("reduce_max", {b.emit("abs", {error_of(b, p)})},
                  {{"dims", std::vector<std::int64_t>{1}}, {"keep", false}});
}

double perplexity(double loss) {
    return std::exp(loss);
}

double bits(double loss) {
    return loss / std::numbers::ln2;
}

template <class List>
auto by_name(const List& list, std::string_view name) -> typename List::value_type {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const auto* def) { return def->name == name; });
    return found == list.end() ? nullptr : *found;
}

} // namespace

const LossDef kCrossEntropyLoss = {"cross_entropy", "Negative log-likelihood of the true class.",
                                   cross_entropy_fields, true, build_cross_entropy};

// Lin et al. 2017: -(1 - p)^gamma log(p)
const LossDef kFocalLoss = {"focal", "Cross-entropy that looks away from what is found already.",
                            focal_fields, true, build_focal};

const MetricDef kAccuracyMetric = {
    "accuracy", "Share of terms whose most likely class is the true one.", true, true,
    "mean", build_accuracy, nullptr};
const MetricDef kPerplexityMetric = {
    "perplexity", "exp(mean cross-entropy): the number of equally likely choices.", true, false,
    "mean", nullptr, perplexity};
const MetricDef kBitsPerByteMetric = {
    "bits_per_byte", "Mean cross-entropy in bits, for models that read bytes.", true, false,
    "mean", nullptr, bits};
const MetricDef kMeanAbsoluteErrorMetric = {
    "mean_absolute_error",
    "Mean distance between prediction and target, in the target's units.",
    false,
    false,
    "mean",
    build_mean_absolute_error,
    nullptr,
    true};
const MetricDef kLargestErrorMetric = {
    "largest_error", "Largest distance between a value and its target, in the target's units.",
    false,           false,
    "max",           build_largest_error,
    nullptr,         true};

const LossDef* find_loss(std::string_view name) {
    return by_name(kLosses, name);
}

const MetricDef* find_metric(std::string_view name) {
    return by_name(kMetrics, name);
}

ir::ValueId counted_targets(ops::Builder& b, ir::ValueId target) {
    const ir::ValueId label = ops::cast(b, target, ir::DType::f32);
    const ir::ValueId ignored = b.emit("less", {label, ops::constant(b, 0.0)});
    return ops::affine(b, ignored, -1.0, 1.0);
}

} // namespace weft::nn
