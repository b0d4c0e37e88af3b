// SPDX-License-Identifier: Apache-2.0
// Generative adversarial network of convolutions (Goodfellow et al. 2014; Radford et al. 2016,
// "DCGAN"): a generator makes images of numbers that are drawn, a discriminator tells them from
// those of the data. Both train in every step, each on its own loss by the weights that both had
// before it (Mescheder et al. 2017, section 2.2).
//
// Where there are classes, both know that of an image: it adds a vector to what the generator
// starts from, and the discriminator adds how much the features are those of the class (Miyato and
// Koyama 2018, "projection").
//
// The generator normalises over the batch, the discriminator nothing, so that its slope is that of
// a function of one image alone (Gulrajani et al. 2017, section 4).
#include "core/nn/functions.h"
#include "core/nn/layers/layer_def.h"
#include "core/nn/models/model_list.h"

namespace weft::nn {
namespace {

using config::Json;

constexpr std::int64_t kGanKernel = 4; // a multiple of the stride: every pixel is met as often
constexpr std::int64_t kGanStride = 2;
constexpr double kGanMomentum = 0.1;
constexpr double kGanNormEps = 1e-5;
constexpr double kLeak = 0.2; // slope of the discriminator's units below 0
constexpr double kSlopeFloor =
    1e-12; // under the root of a slope's squares, which 0 has no slope of

config::FieldTable gan_fields() {
    return {
        config::list_field("channels", Json::array({32, 64}),
                           config::integer_field("width", nullptr, "Channels of a convolution.")
                               .must_be_given()
                               .range(1, 1 << 16),
                           "Convolutions 4 x 4 of stride 2 in the discriminator; the generator has "
                           "them in reverse, transposed."),
        config::integer_field("latent", 64, "Numbers that a sample is made of.").range(1, 1 << 16),
        config::choice_field("output", "sigmoid", {"sigmoid", "tanh", "none"},
                             "Last function of the generator: sigmoid for images from 0 to 1, as "
                             "they are read, tanh for those moved to -1 to 1, none for any."),
        config::real_field(
            "gradient_penalty", 0.0,
            "How much it costs that the slope of the discriminator between a sample "
            "and a made one is not 1; 10 is usual with kind wasserstein, 0: nothing.")
            .range(0.0, 1000.0)};
}

void check_gan(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    if (settings.at("channels").empty()) {
        out.push_back({pointer + "/channels", config::Severity::error, "there is no convolution",
                       "Give at least one number of channels."});
    }
}

class Gan {
public:
    Gan(ModelContext& context, const Json& settings)
        : context_(context), b_(context.builder()), settings_(settings),
          channels_(settings.at("channels").get<std::vector<std::int64_t>>()),
          labels_(context.labels().valid()
                      ? known_labels(b_, context.labels(), context.data().classes)
                      : ir::ValueId{}) {
        const ir::Shape& input = context.data().input.shape;
        if (!ir::is_float(context.data().input.dtype) || input.rank() != 3) {
            context.fail("gan needs images, but the data delivers " +
                             ir::to_text(context.data().input),
                         "Use model vae for features, gpt2 for text.");
        }
        sizes_ = {input};
        for (const std::int64_t width : channels_) {
            const auto half = [](std::int64_t size) {
                return (size + kGanStride - 1) / kGanStride;
            };
            sizes_.push_back({half(sizes_.back()[0]), half(sizes_.back()[1]), width});
        }
    }

    /// z [B, latent] -> images [B, H, W, C]
    ir::ValueId generate(ir::ValueId z) {
        const Scope scope(context_, "generator");
        const ir::Shape& small = sizes_.back();
        ir::ValueId x;
        {
            const Scope layer(context_, "spread");
            x = full(z, small.elements());
            if (labels_.valid()) {
                x = ops::add(b_, x,
                             class_vectors(context_, labels_, small.elements(),
                                           Init::fan_in(context_.shape(z).back())));
            }
            x = ops::reshape(b_, x, {context_.shape(x)[0], small[0], small[1], small[2]});
            x = normalised(x);
        }
        for (std::size_t i = channels_.size(); i-- > 1;) {
            const Scope layer(context_, "convolutions." + std::to_string(channels_.size() - 1 - i));
            x = normalised(grown(x, sizes_[i]));
        }
        const Scope layer(context_, "output");
        x = with_offset(context_, grown(x, sizes_[0]));
        const auto& output = settings_.at("output").get_ref<const std::string&>();
        return output == "none" ? x : activation(context_, output, x);
    }

    /// x [B, H, W, C] -> f32 [B], larger for what looks like data.
    ir::ValueId score(ir::ValueId x) {
        const Scope scope(context_, "discriminator");
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            const Scope layer(context_, "convolutions." + std::to_string(i));
            x = with_offset(context_, conv2d(context_, x, channels_[i], kGanKernel, kGanStride));
            x = ops::maximum(b_, x, ops::affine(b_, x, kLeak));
        }
        const Scope layer(context_, "output");
        x = flatten(context_, x);
        ir::ValueId y = full(x, 1);
        y = ops::cast(b_, ops::reshape(b_, y, {context_.shape(y)[0]}), ir::DType::f32);
        return labels_.valid() ? ops::add(b_, y, likeness(x)) : y;
    }

    /// What the latents of a batch are: drawn, or 0 where nothing is.
    ir::ValueId draw_latents(std::int64_t samples) {
        const auto latent = settings_.at("latent").get<std::int64_t>();
        if (!context_.random().valid()) {
            return ops::constant(b_, 0.0, {samples, latent});
        }
        return b_.emit("random_normal", {context_.random()},
                       {{"shape", std::vector<std::int64_t>{samples, latent}},
                        {"mean", 0.0},
                        {"stddev", 1.0},
                        {"stream", stream("latent")}});
    }

    /// (|slope| - 1)^2 of the discriminator at a point between two images, of each sample: f32 [B]
    /// (Gulrajani et al. 2017, equation 3).
    ir::ValueId penalty(ir::ValueId sample, ir::ValueId made) {
        const ir::ValueId part = draw_parts(context_.shape(sample)[0]);
        const ir::ValueId between =
            ops::add(b_, made, ops::mul(b_, part, ops::sub(b_, sample, made)));
        const ir::ValueId slope =
            ops::cast(b_, context_.slope(score(between), between), ir::DType::f32);
        const ir::ValueId squares = ops::reduce_sum(b_, b_.emit("square", {slope}), {1, 2, 3});
        const ir::ValueId size = b_.emit("sqrt", {ops::affine(b_, squares, 1.0, kSlopeFloor)});
        return ops::affine(b_, b_.emit("square", {ops::affine(b_, size, 1.0, -1.0)}),
                           settings_.at("gradient_penalty").get<double>());
    }

private:
    std::string stream(const char* name) const {
        return std::string(name) + (context_.training() ? "" : ".evaluation");
    }

    ir::ValueId draw_parts(std::int64_t samples) {
        if (!context_.random().valid()) {
            return ops::constant(b_, 0.5, {samples, 1, 1, 1});
        }
        return b_.emit("random_uniform", {context_.random()},
                       {{"shape", std::vector<std::int64_t>{samples, 1, 1, 1}},
                        {"low", 0.0},
                        {"high", 1.0},
                        {"stream", stream("between")}});
    }

    /// Of features [B, N] to those of each sample's class: f32 [B].
    ir::ValueId likeness(ir::ValueId x) {
        const ir::ValueId wanted =
            class_vectors(context_, labels_, context_.shape(x).back(), Init::zeros());
        return ops::reduce_sum(b_, ops::cast(b_, ops::mul(b_, x, wanted), ir::DType::f32), {1});
    }

    ir::ValueId full(ir::ValueId x, std::int64_t units) {
        return dense(context_, x, units, Init::fan_in(context_.shape(x).back()), {"embed", "mlp"});
    }

    ir::ValueId grown(ir::ValueId x, const ir::Shape& to) {
        return conv2d_transpose(context_, x,
                                {.channels = to[2],
                                 .kernel = kGanKernel,
                                 .stride = kGanStride,
                                 .height = to[0],
                                 .width = to[1]});
    }

    ir::ValueId normalised(ir::ValueId x) {
        const Scope scope(context_, "norm");
        return activation(context_, "relu", batch_norm(context_, x, kGanMomentum, kGanNormEps));
    }

    ModelContext& context_;
    ops::Builder& b_;
    const Json& settings_;
    std::vector<std::int64_t> channels_;
    std::vector<ir::Shape>
        sizes_; // of images [H, W, C] before each convolution, and after the last
    ir::ValueId labels_; // i32 [B]; invalid where there are no classes
};

ir::ValueId build_gan(ModelContext& context, const Json& settings, ir::ValueId inputs) {
    Gan gan(context, settings);
    const ir::ValueId made = gan.generate(gan.draw_latents(context.shape(inputs)[0]));
    context.publish("real_score", gan.score(inputs));
    context.publish("fake_score", gan.score(made));
    if (settings.at("gradient_penalty") > 0.0 && context.knows_slopes()) {
        context.publish("slope_penalty", gan.penalty(inputs, made));
    }
    return flatten(context, made);
}

bool gan_makes_shares(const Json& settings) {
    return settings.at("output") == "sigmoid";
}

ir::Shape gan_latent(const DataShape&, const Json& settings) {
    return {settings.at("latent").get<std::int64_t>()};
}

ir::ValueId make_gan_samples(ModelContext& context, const Json& settings, ir::ValueId latents) {
    return flatten(context, Gan(context, settings).generate(latents));
}

} // namespace

const ModelDef kGanModel = {
    .name = "gan",
    .help = "Generative adversarial network of convolutions: makes images like those of the data "
            "out of numbers that are drawn, of a class where there are classes. Trained by the "
            "loss adversarial; an optimizer group "
            "that matches discriminator.* gives that one a rate of its own.",
    .tensors = "generator.spread.weight [latent, out]\n"
               "generator.spread.bias [out]\n"
               "generator.spread.label.weight [classes + 1, out]\n"
               "generator.spread.norm.* as those of batch_norm\n"
               "generator.convolutions.*.weight [4, 4, out, in]\n"
               "generator.convolutions.*.norm.* as those of batch_norm\n"
               "generator.output.weight [4, 4, out, in]\n"
               "generator.output.bias [out]\n"
               "discriminator.convolutions.*.weight [4, 4, in, out]\n"
               "discriminator.convolutions.*.bias [out]\n"
               "discriminator.output.weight [in, 1]\n"
               "discriminator.output.bias [1]\n"
               "discriminator.output.label.weight [classes + 1, in]\n",
    .fields = gan_fields,
    .build = build_gan,
    .check = check_gan,
    .loss = "adversarial",
    .draws = true,
    .latent = gan_latent,
    .make = make_gan_samples,
    .takes_labels = true,
    .unmoved = gan_makes_shares};

} // namespace weft::nn
