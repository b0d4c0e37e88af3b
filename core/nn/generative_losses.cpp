// SPDX-License-Identifier: Apache-2.0
// Losses of models that make samples. Their target is the sample itself; the model publishes what
// they need beside its output.
#include "core/nn/loss_def.h"

#include "core/base/check.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::nn {
namespace {

using config::Json;

config::FieldTable elbo_fields() {
    return {
        config::real_field("beta", 1.0,
                           "How much the divergence counts; above 1 latents are less entangled, "
                           "and pictures less sharp (Higgins et al. 2017).")
            .range(0.0, 1000.0),
        config::choice_field("likelihood", "bernoulli", {"bernoulli", "gaussian"},
                             "What the decoder says of a value: bernoulli, for values from 0 to "
                             "1, a probability; gaussian, for any, a mean with variance 1.")};
}

bool is_bernoulli(const Json& settings) {
    return settings.at("likelihood") == "bernoulli";
}

/// -log p(x | z) of each sample in nats: [B].
ir::ValueId reconstruction(ops::Builder& b, const Json& settings, const Prediction& p) {
    const ir::Shape shape = b.shape(p.output);
    const ir::ValueId output = ops::cast(b, p.output, ir::DType::f32);
    const ir::ValueId input = ops::cast(b, ops::reshape(b, p.input, shape), ir::DType::f32);
    if (is_bernoulli(settings)) {
        return ops::reduce_sum(b, binary_cross_entropy(b, output, input), {1});
    }
    const double constant = 0.5 * std::log(2.0 * std::numbers::pi);
    const ir::ValueId squares = b.emit("square", {ops::sub(b, output, input)});
    return ops::reduce_sum(b, ops::affine(b, squares, 0.5, constant), {1});
}

/// KL(N(mean, exp(log_variance)) || N(0, 1)) of each sample in nats: [B] (Kingma and Welling 2014,
/// appendix B).
ir::ValueId divergence(ops::Builder& b, const Prediction& p) {
    const ir::ValueId mean = published_value(b, p, "latent_mean");
    const ir::ValueId log_variance = published_value(b, p, "latent_log_variance");
    const ir::ValueId excess =
        ops::sub(b, ops::add(b, b.emit("square", {mean}), b.emit("exp", {log_variance})),
                 ops::affine(b, log_variance, 1.0, 1.0));
    return ops::affine(b, ops::reduce_sum(b, excess, {1}), 0.5);
}

ir::ValueId build_elbo(ops::Builder& b, const Json& settings, const Prediction& p) {
    const auto beta = settings.at("beta").get<double>();
    return ops::add(b, reconstruction(b, settings, p), ops::affine(b, divergence(b, p), beta));
}

ir::ValueId expected_values(ops::Builder& b, const Json& settings, ir::ValueId output) {
    return is_bernoulli(settings) ? b.emit("sigmoid", {output}) : output;
}

/// The simple loss of Ho et al. 2020, equation 14.
ir::ValueId build_denoising(ops::Builder& b, const Json&, const Prediction& p) {
    const ir::ValueId output = ops::cast(b, p.output, ir::DType::f32);
    return ops::reduce_mean(
        b, b.emit("square", {ops::sub(b, output, published_value(b, p, "denoising_target"))}), {1});
}

/// Of latents that are normal numbers, in nats: -log N(z; 0, 1) - log |det dz/dx|.
ir::ValueId build_negative_log_likelihood(ops::Builder& b, const Json&, const Prediction& p) {
    const auto size = static_cast<double>(b.shape(p.output)[1]);
    const ir::ValueId latents = ops::cast(b, p.output, ir::DType::f32);
    const ir::ValueId squares = ops::reduce_sum(b, b.emit("square", {latents}), {1});
    const double constant = 0.5 * size * std::log(2.0 * std::numbers::pi);
    return ops::sub(b, ops::affine(b, squares, 0.5, constant),
                    published_value(b, p, "log_determinant"));
}

ir::ValueId build_bits_per_dimension(ops::Builder& b, const Prediction& p) {
    const auto size = static_cast<double>(b.shape(p.output)[1]);
    return ops::affine(b, build_negative_log_likelihood(b, *p.settings, p),
                       1.0 / (size * std::numbers::ln2));
}

ir::ValueId build_reconstruction(ops::Builder& b, const Prediction& p) {
    return reconstruction(b, *p.settings, p);
}

const std::pair<std::string, ir::ValueId>* find_published(const Prediction& p,
                                                          std::string_view name) {
    WEFT_CHECK(p.published != nullptr, "a model stands behind the prediction");
    const auto found = std::find_if(p.published->begin(), p.published->end(),
                                    [&](const auto& one) { return one.first == name; });
    return found == p.published->end() ? nullptr : &*found;
}

} // namespace

bool has_published(const Prediction& p, std::string_view name) {
    return find_published(p, name) != nullptr;
}

ir::ValueId published_value(ops::Builder& b, const Prediction& p, std::string_view name) {
    const auto* found = find_published(p, name);
    WEFT_CHECK(found != nullptr, "the loss goes with this model");
    return ops::cast(b, found->second, ir::DType::f32);
}

// -x l + log(1 + exp(l)), where log(1 + exp(l)) = (l + |l|) / 2 + log(1 + exp(-|l|)).
ir::ValueId binary_cross_entropy(ops::Builder& b, ir::ValueId logits, ir::ValueId targets) {
    const ir::ValueId size = b.emit("abs", {logits});
    const ir::ValueId small = b.emit("exp", {ops::affine(b, size, -1.0)});
    const ir::ValueId tail = b.emit("log", {ops::affine(b, small, 1.0, 1.0)});
    const ir::ValueId half = ops::affine(b, ops::add(b, logits, size), 0.5);
    return ops::sub(b, ops::add(b, half, tail), ops::mul(b, logits, targets));
}

const LossDef kElboLoss = {.name = "elbo",
                           .help = "Negative evidence lower bound, in nats per sample: what "
                                   "reconstructing it costs, and what its latent says.",
                           .fields = elbo_fields,
                           .needs_classes = false,
                           .build = build_elbo,
                           .of_input = true,
                           .expected = expected_values};

const LossDef kDenoisingLoss = {.name = "denoising",
                                .help =
                                    "Mean squared error of the noise that was added, or of what "
                                    "else the model predicts.",
                                .fields = no_loss_fields,
                                .needs_classes = false,
                                .build = build_denoising,
                                .of_input = true};

const LossDef kNegativeLogLikelihoodLoss = {
    .name = "negative_log_likelihood",
    .help = "What a sample costs in nats under a model that knows its density.",
    .fields = no_loss_fields,
    .needs_classes = false,
    .build = build_negative_log_likelihood,
    .of_input = true};

const MetricDef kBitsPerDimensionMetric = {.name = "bits_per_dimension",
                                           .help = "The same in bits per value of the sample.",
                                           .needs_classes = false,
                                           .higher_is_better = false,
                                           .reduction = "mean",
                                           .build = build_bits_per_dimension,
                                           .from_loss = nullptr,
                                           .part_of = "negative_log_likelihood"};

const MetricDef kReconstructionMetric = {
    .name = "reconstruction",
    .help = "The part of elbo that reconstructing a sample costs, in nats.",
    .needs_classes = false,
    .higher_is_better = false,
    .reduction = "mean",
    .build = build_reconstruction,
    .from_loss = nullptr,
    .part_of = "elbo"};

const MetricDef kDivergenceMetric = {
    .name = "divergence",
    .help = "The part of elbo that latents say, in nats: their Kullback-Leibler divergence from "
            "normal ones, before beta.",
    .needs_classes = false,
    .higher_is_better = false,
    .reduction = "mean",
    .build = divergence,
    .from_loss = nullptr,
    .part_of = "elbo"};

} // namespace weft::nn
