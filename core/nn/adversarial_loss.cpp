// SPDX-License-Identifier: Apache-2.0
// What the two networks of an adversarial model are trained on, and its parts as metrics.
#include "core/nn/functions.h"
#include "core/nn/loss_def.h"

#include "core/base/error.h"

namespace weft::nn {
namespace {

using config::Json;

constexpr const char* kNonSaturating = "non_saturating";
constexpr const char* kHinge = "hinge";
constexpr const char* kWasserstein = "wasserstein";

config::FieldTable adversarial_fields() {
    return {config::choice_field(
        "kind", kNonSaturating, {kNonSaturating, kHinge, kWasserstein},
        "non_saturating: cross-entropy of what the discriminator takes for data, the generator's "
        "with the sides changed; hinge: scores beyond plus or minus 1 are good enough; "
        "wasserstein: the difference of scores, which needs the model's gradient_penalty.")};
}

ir::ValueId rectified(ops::Builder& b, ir::ValueId x, double scale) {
    return b.emit("relu", {ops::affine(b, x, scale, 1.0)});
}

/// f32 [B], as are those below.
ir::ValueId generator_terms(ops::Builder& b, const Json& settings, const Prediction& p) {
    const ir::ValueId minus = ops::affine(b, published_value(b, p, "fake_score"), -1.0);
    return settings.at("kind") == kNonSaturating ? softplus(b, minus) : minus;
}

ir::ValueId discriminator_terms(ops::Builder& b, const Json& settings, const Prediction& p) {
    const ir::ValueId real = published_value(b, p, "real_score");
    const ir::ValueId fake = published_value(b, p, "fake_score");
    const bool slopes = has_published(p, "slope_penalty");
    const Json& kind = settings.at("kind");
    ir::ValueId out;
    if (kind == kNonSaturating) {
        out = ops::add(b, softplus(b, ops::affine(b, real, -1.0)), softplus(b, fake));
    } else if (kind == kHinge) {
        out = ops::add(b, rectified(b, real, -1.0), rectified(b, fake, 1.0));
    } else if (slopes) {
        out = ops::sub(b, fake, real);
    } else {
        throw Error(ErrorKind::usage, "/loss/kind",
                    "wasserstein needs a discriminator whose slope is held, but the model's "
                    "gradient_penalty is 0",
                    "Set model.gradient_penalty to 10, or use kind hinge.");
    }
    return slopes ? ops::add(b, out, published_value(b, p, "slope_penalty")) : out;
}

std::vector<Objective> adversarial_objectives(ops::Builder& b, const Json& settings,
                                              const Prediction& p) {
    return {{"discriminator.*", discriminator_terms(b, settings, p)},
            {"generator.*", generator_terms(b, settings, p)}};
}

ir::ValueId build_adversarial(ops::Builder& b, const Json& settings, const Prediction& p) {
    return sum_of(b, adversarial_objectives(b, settings, p));
}

ir::ValueId build_generator_loss(ops::Builder& b, const Prediction& p) {
    return generator_terms(b, *p.settings, p);
}

ir::ValueId build_discriminator_loss(ops::Builder& b, const Prediction& p) {
    return discriminator_terms(b, *p.settings, p);
}

ir::ValueId score(ops::Builder& b, const Prediction& p, const char* name) {
    const ir::ValueId out = published_value(b, p, name);
    return p.settings->at("kind") == kNonSaturating ? b.emit("sigmoid", {out}) : out;
}

ir::ValueId build_real_score(ops::Builder& b, const Prediction& p) {
    return score(b, p, "real_score");
}

ir::ValueId build_fake_score(ops::Builder& b, const Prediction& p) {
    return score(b, p, "fake_score");
}

constexpr MetricDef part(std::string_view name, std::string_view help, bool higher_is_better,
                         ir::ValueId (*build)(ops::Builder&, const Prediction&)) {
    return {.name = name,
            .help = help,
            .needs_classes = false,
            .higher_is_better = higher_is_better,
            .reduction = "mean",
            .build = build,
            .from_loss = nullptr,
            .part_of = "adversarial"};
}

} // namespace

const LossDef kAdversarialLoss = {
    .name = "adversarial",
    .help = "What a discriminator and a generator are trained on, each on its own part; reported "
            "is the sum. It says nothing of how good samples are.",
    .fields = adversarial_fields,
    .needs_classes = false,
    .build = build_adversarial,
    .of_input = true,
    .objectives = adversarial_objectives};

const MetricDef kGeneratorLossMetric =
    part("generator_loss", "The part of adversarial that the generator is trained on.", false,
         build_generator_loss);
const MetricDef kDiscriminatorLossMetric =
    part("discriminator_loss", "The part of adversarial that the discriminator is trained on.",
         false, build_discriminator_loss);
const MetricDef kRealScoreMetric =
    part("real_score",
         "What the discriminator says of samples of the data: of kind non_saturating the "
         "probability that they are such, else the score itself.",
         true, build_real_score);
const MetricDef kFakeScoreMetric =
    part("fake_score", "What it says of samples that the generator makes.", true, build_fake_score);

} // namespace weft::nn
