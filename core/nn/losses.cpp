// SPDX-License-Identifier: Apache-2.0
#include "core/nn/loss_def.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::nn {
namespace {

using config::Json;

constexpr std::size_t kMostWeights = 1000; // each class takes two ops of a term

config::FieldTable cross_entropy_fields() {
    return {
        config::real_field("label_smoothing", 0.0,
                           "Share of the target spread evenly over all classes.")
            .range(0.0, 0.99),
        config::real_field("z_loss", 0.0,
                           "Adds so many times the square of the logarithm of the sum of "
                           "exponentials of the logits, which keeps them near 0; 1e-4 is usual.")
            .range(0.0, 1.0),
        config::list_field(
            "class_weights", nullptr,
            config::real_field("weight", nullptr, "Of a class.").must_be_given().at_least(0.0),
            "How much a term of each class counts, in the order of the classes; "
            "the mean is still over the number of terms. Null: all alike.")
            .or_null(),
        config::boolean_field("balance_classes", false,
                              "Gives classes weights by the data, so that each counts as if all "
                              "had as many samples: samples / (classes x samples of the class).")};
}

void check_cross_entropy(const Json& settings, const std::string& pointer,
                         config::Diagnostics& out) {
    const Json& weights = settings.at("class_weights");
    if (weights.is_null()) {
        return;
    }
    if (settings.at("balance_classes") == true) {
        out.push_back({pointer + "/balance_classes", config::Severity::error,
                       "class_weights say how much classes count", "Leave one of the two out."});
    }
    const auto report = [&](std::string message, std::string hint) {
        out.push_back({pointer + "/class_weights", config::Severity::error, std::move(message),
                       std::move(hint)});
    };
    if (weights.size() > kMostWeights) {
        report("weights of " + std::to_string(weights.size()) + " classes are more than " +
                   std::to_string(kMostWeights),
               "Leave class_weights out.");
    } else if (std::none_of(weights.begin(), weights.end(),
                            [](const Json& weight) { return weight.get<double>() > 0; })) {
        report("no class counts", "Give a class a weight above 0, or leave class_weights out.");
    }
}

bool cross_entropy_in_nats(const Json& settings) {
    return settings.at("z_loss") == 0.0 && settings.at("class_weights").is_null() &&
           settings.at("balance_classes") == false;
}

/// The weights of classes i32 [...] -> f32 [...].
ir::ValueId weights_of(ops::Builder& b, const Json& weights, ir::ValueId target) {
    const ir::ValueId label = ops::cast(b, target, ir::DType::f32);
    ir::ValueId out;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const ir::ValueId is = b.emit("equal", {label, ops::constant(b, static_cast<double>(i))});
        const ir::ValueId own = ops::affine(b, is, weights[i].get<double>());
        out = out.valid() ? ops::add(b, out, own) : own;
    }
    return out;
}

void check_weights_fit(const Json& weights, std::int64_t classes) {
    if (std::ssize(weights) != classes) {
        throw Error(ErrorKind::usage, "/loss/class_weights",
                    std::to_string(weights.size()) + " weights are given, but there are " +
                        std::to_string(classes) + " classes",
                    "Give one weight per class, in the order of the classes.");
    }
}

ir::ValueId build_cross_entropy(ops::Builder& b, const Json& settings, const Prediction& p) {
    const auto z_loss = settings.at("z_loss").get<double>();
    const Json& weights = settings.at("class_weights");
    if (!weights.is_null()) {
        check_weights_fit(weights, b.shape(p.output).back());
    }
    return by_shares(b, p, [&](ir::ValueId target) {
        const auto made =
            b.emit_all("cross_entropy", {p.output, target},
                       {{"label_smoothing", settings.at("label_smoothing").get<double>()}});
        ir::ValueId loss = made[0];
        if (!weights.is_null()) {
            loss = ops::mul(b, loss, weights_of(b, weights, target));
        }
        if (z_loss > 0.0) {
            // de Brebisson and Vincent 2016; Chowdhery et al. 2022, section 5
            const ir::ValueId squares = ops::affine(b, b.emit("square", {made[1]}), z_loss);
            loss = ops::add(b, loss, ops::mul(b, squares, counted_targets(b, target)));
        }
        return loss;
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

std::vector<Objective> objectives_of(const LossDef& loss, ops::Builder& b, const Json& settings,
                                     const Prediction& p) {
    if (loss.objectives != nullptr) {
        return loss.objectives(b, settings, p);
    }
    return {{"*", loss.build(b, settings, p)}};
}

ir::ValueId sum_of(ops::Builder& b, const std::vector<Objective>& objectives) {
    ir::ValueId out;
    for (const Objective& one : objectives) {
        out = out.valid() ? ops::add(b, out, one.terms) : one.terms;
    }
    return out;
}

const LossDef kCrossEntropyLoss = {.name = "cross_entropy",
                                   .help = "Negative log-likelihood of the true class.",
                                   .fields = cross_entropy_fields,
                                   .needs_classes = true,
                                   .build = build_cross_entropy,
                                   .check = check_cross_entropy,
                                   .in_nats = cross_entropy_in_nats};

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

ir::ValueId logits_of(const LossDef& loss, ops::Builder& b, ir::ValueId output) {
    return loss.logits == nullptr ? output : loss.logits(b, output);
}

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
