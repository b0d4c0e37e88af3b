// SPDX-License-Identifier: Apache-2.0
// Variational autoencoder (Kingma and Welling 2014): an encoder gives mean and log variance of a
// sample's latent, a decoder makes samples of latents. Convolutions of stride 2, where there are
// any, stand before the hidden layers of the encoder and, transposed, behind those of the decoder.
//
// Latents are drawn, in training and evaluation alike: the loss is a bound in the mean over what is
// drawn. Evaluation draws the same for the same sample each time. Reconstructions are of the mean.
#include "core/nn/layers/layer_def.h"
#include "core/nn/models/model_list.h"

namespace weft::nn {
namespace {

using config::Json;

constexpr std::int64_t kVaeKernel = 3;
constexpr std::int64_t kVaeStride = 2;

config::FieldTable vae_fields() {
    const auto widths = [](const char* name, Json value, const char* of_one, const char* help) {
        return config::list_field(
            name, std::move(value),
            config::integer_field("width", nullptr, of_one).must_be_given().range(1, 1 << 20),
            help);
    };
    return {
        widths("channels", Json::array(), "Channels of a convolution.",
               "Convolutions 3 x 3 of stride 2 in front of the hidden layers, and transposed "
               "ones at the end, for images; empty: none."),
        widths("hidden", Json::array({400}), "Units of a hidden layer.",
               "Width of each hidden layer of the encoder; the decoder has them in reverse."),
        config::integer_field("latent", 20, "Numbers that a sample is made of.").range(1, 1 << 16),
        config::choice_field("activation", "relu", activation_names(),
                             "Function after each hidden layer.")};
}

/// Heights and widths of the images before each convolution, and after the last.
std::vector<ir::Shape> image_sizes(const ir::Shape& input, const Json& channels) {
    std::vector<ir::Shape> out = {input};
    for (const Json& width : channels) {
        const auto half = [](std::int64_t size) { return (size + kVaeStride - 1) / kVaeStride; };
        out.push_back({half(out.back()[0]), half(out.back()[1]), width.get<std::int64_t>()});
    }
    return out;
}

class Vae {
public:
    Vae(ModelContext& context, const Json& settings) : context_(context), settings_(settings) {
        const ir::Shape& input = context.data().input.shape;
        if (!ir::is_float(context.data().input.dtype)) {
            context.fail("vae needs images or features, but the data delivers " +
                             ir::to_text(context.data().input),
                         "Use model gpt2 for text.");
        }
        if (!settings.at("channels").empty() && input.rank() != 3) {
            context.fail("convolutions need images, but the data delivers " +
                             ir::to_text(context.data().input),
                         "Leave channels empty.");
        }
        if (input.rank() == 3) {
            sizes_ = image_sizes(input, settings.at("channels"));
        }
    }

    /// x [B, input...] -> mean and log variance [B, latent]
    std::pair<ir::ValueId, ir::ValueId> encode(ir::ValueId x) {
        const Scope scope(context_, "encoder");
        const Json& channels = settings_.at("channels");
        for (std::size_t i = 0; i < channels.size(); ++i) {
            const Scope layer(context_, "convolutions." + std::to_string(i));
            x = activated(convolution(x, channels[i].get<std::int64_t>()));
        }
        x = flatten(context_, x);
        const Json& hidden = settings_.at("hidden");
        for (std::size_t i = 0; i < hidden.size(); ++i) {
            const Scope layer(context_, "layers." + std::to_string(i));
            x = activated(full(x, hidden[i].get<std::int64_t>()));
        }
        return {named("mean", x, latent()), named("log_variance", x, latent())};
    }

    /// z [B, latent] -> outputs [B, values of a sample]
    ir::ValueId decode(ir::ValueId z) {
        const Scope scope(context_, "decoder");
        const Json& hidden = settings_.at("hidden");
        const Json& channels = settings_.at("channels");
        for (std::size_t i = 0; i < hidden.size(); ++i) {
            const Scope layer(context_, "layers." + std::to_string(i));
            z = activated(full(z, hidden[hidden.size() - 1 - i].get<std::int64_t>()));
        }
        if (channels.empty()) {
            return named("output", z, context_.data().input.shape.elements());
        }
        const ir::Shape& small = sizes_.back();
        z = activated(named("spread", z, small.elements()));
        z = ops::reshape(context_.builder(), z,
                         {context_.shape(z)[0], small[0], small[1], small[2]});
        for (std::size_t i = channels.size(); i-- > 0;) {
            const bool last = i == 0;
            const Scope layer(context_,
                              last ? "output"
                                   : "convolutions." + std::to_string(channels.size() - 1 - i));
            z = transposed(z, sizes_[i]);
            z = last ? z : activated(z);
        }
        return flatten(context_, z);
    }

private:
    std::int64_t latent() const { return settings_.at("latent").get<std::int64_t>(); }

    ir::ValueId activated(ir::ValueId x) {
        return activation(context_, settings_.at("activation").get<std::string>(), x);
    }

    ir::ValueId full(ir::ValueId x, std::int64_t units) {
        return dense(context_, x, units, Init::fan_in(context_.shape(x).back()), {"embed", "mlp"});
    }

    ir::ValueId named(const char* name, ir::ValueId x, std::int64_t units) {
        const Scope layer(context_, name);
        return full(x, units);
    }

    ir::ValueId convolution(ir::ValueId x, std::int64_t channels) {
        return with_offset(context_, conv2d(context_, x, channels, kVaeKernel, kVaeStride));
    }

    ir::ValueId transposed(ir::ValueId x, const ir::Shape& to) {
        return with_offset(context_, conv2d_transpose(context_, x,
                                                      {.channels = to[2],
                                                       .kernel = kVaeKernel,
                                                       .stride = kVaeStride,
                                                       .height = to[0],
                                                       .width = to[1]}));
    }

    ModelContext& context_;
    const Json& settings_;
    std::vector<ir::Shape> sizes_; // of images [H, W, C]
};

/// A draw of N(mean, exp(log_variance)), or the mean where nothing is drawn.
ir::ValueId draw_latent(ModelContext& context, ir::ValueId mean, ir::ValueId log_variance) {
    if (!context.random().valid()) {
        return mean;
    }
    const Scope scope(context, "latent");
    ops::Builder& b = context.builder();
    const ir::Shape shape = context.shape(mean);
    const ir::ValueId noise =
        b.emit("random_normal", {context.random()},
               {{"shape", std::vector<std::int64_t>{shape[0], shape[1]}},
                {"mean", 0.0},
                {"stddev", 1.0},
                {"stream", context.path() + (context.training() ? "" : ".evaluation")}});
    const ir::ValueId deviation = b.emit("exp", {ops::affine(b, log_variance, 0.5)});
    return ops::add(b, mean, ops::mul(b, deviation, noise));
}

ir::ValueId build_vae(ModelContext& context, const Json& settings, ir::ValueId inputs) {
    Vae vae(context, settings);
    const auto [mean, log_variance] = vae.encode(inputs);
    context.publish("latent_mean", mean);
    context.publish("latent_log_variance", log_variance);
    return vae.decode(draw_latent(context, mean, log_variance));
}

ir::Shape vae_latent(const DataShape&, const Json& settings) {
    return {settings.at("latent").get<std::int64_t>()};
}

ir::ValueId make_vae_samples(ModelContext& context, const Json& settings, ir::ValueId latents) {
    return Vae(context, settings).decode(latents);
}

} // namespace

const ModelDef kVaeModel = {.name = "vae",
                            .help = "Variational autoencoder: makes samples like those of the data "
                                    "out of a few numbers. Trained by the loss elbo.",
                            .tensors = "encoder.convolutions.*.weight [3, 3, in, out]\n"
                                       "encoder.convolutions.*.bias [out]\n"
                                       "encoder.layers.*.weight [in, out]\n"
                                       "encoder.layers.*.bias [out]\n"
                                       "encoder.mean.weight [in, latent]\n"
                                       "encoder.mean.bias [latent]\n"
                                       "encoder.log_variance.weight [in, latent]\n"
                                       "encoder.log_variance.bias [latent]\n"
                                       "decoder.layers.*.weight [in, out]\n"
                                       "decoder.layers.*.bias [out]\n"
                                       "decoder.spread.weight [in, out]\n"
                                       "decoder.spread.bias [out]\n"
                                       "decoder.convolutions.*.weight [3, 3, out, in]\n"
                                       "decoder.convolutions.*.bias [out]\n"
                                       "decoder.output.weight [in, out], or [3, 3, out, in]\n"
                                       "decoder.output.bias [out]\n",
                            .fields = vae_fields,
                            .build = build_vae,
                            .loss = "elbo",
                            .draws = true,
                            .latent = vae_latent,
                            .make = make_vae_samples,
                            .reconstructs = true};

} // namespace weft::nn
