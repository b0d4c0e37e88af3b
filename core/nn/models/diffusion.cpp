// SPDX-License-Identifier: Apache-2.0
// Denoising diffusion (Ho et al. 2020) with a small U-Net: noise is added to samples at a random
// time, and the network says which noise it was, or how fast the mix turns from sample to noise
// (Salimans and Ho 2022, section 4), from which the sample can be told at any time. Times are
// angles (Nichol and Dhariwal 2021, the cosine schedule in the form of Salimans and Ho 2022): at
// time t of T
//   x_t = cos(a_t) x + sin(a_t) noise,   a_t = t / T (pi / 2 - 0.01)
// so that 0 is the sample and T nearly noise alone. Samples are made by DDIM without chance (Song
// et al. 2021) from T down to 0, guided towards their class without a classifier (Ho and Salimans
// 2022).
//
// Tensors: down.<level>, up.<level> with blocks.<i>.
#include "core/nn/functions.h"
#include "core/nn/layers/layer_def.h"
#include "core/nn/loop.h"
#include "core/nn/models/model_list.h"

#include <array>
#include <cmath>
#include <numbers>

namespace weft::nn {
namespace {

using config::Json;

constexpr double kLeastSignal = 0.01; // sine of what the last angle falls short of a right one by
constexpr double kDiffusionNormEps = 1e-5;

config::FieldTable diffusion_fields() {
    return {
        config::list_field("channels", Json::array({32, 64, 64}),
                           config::integer_field("width", nullptr, "Channels of a level.")
                               .must_be_given()
                               .range(1, 1 << 16),
                           "Channels of each level; every level but the first has half the height "
                           "and width of the one before."),
        config::integer_field("blocks", 1, "Residual blocks per level, each way.").range(1, 16),
        config::integer_field("groups", 8,
                              "Groups of channels that are normalised; divides all "
                              "channels.")
            .range(1, 1 << 16),
        config::integer_field("patch", 1,
                              "Pixels of a side of the squares that the network works on as one; "
                              "2 is about four times as fast, and coarser.")
            .range(1, 64),
        config::choice_field("predicts", "noise", {"noise", "velocity"},
                             "What the network says of a mix of sample and noise: the noise, or "
                             "how fast one turns into the other, which makes better samples in few "
                             "steps."),
        config::integer_field("times", 1000, "Times from a sample to noise.").range(2, 100'000),
        config::integer_field("sampling_steps", 50,
                              "Steps in which samples are made; divides times.")
            .range(1, 100'000),
        config::real_field("label_dropout", 0.1,
                           "Share of samples whose class is kept from the network, so that it can "
                           "do without.")
            .range(0.0, 1.0),
        config::real_field("guidance", 2.0,
                           "How far samples are drawn towards their class; 1: not at all.")
            .range(0.0, 100.0),
        config::real_field("clip", 1.0,
                           "While samples are made, what is believed of them stays within plus or "
                           "minus this; null: anywhere.")
            .above(0.0)
            .or_null()};
}

void check_diffusion(const Json& settings, const std::string& pointer, config::Diagnostics& out) {
    const auto error = [&](const char* field, std::string message, std::string hint) {
        out.push_back(
            {pointer + "/" + field, config::Severity::error, std::move(message), std::move(hint)});
    };
    if (settings.at("channels").empty()) {
        error("channels", "there is no level", "Give at least one number of channels.");
    }
    const auto groups = settings.at("groups").get<std::int64_t>();
    for (const Json& width : settings.at("channels")) {
        if (width.get<std::int64_t>() % groups != 0) {
            error("groups",
                  width.dump() + " channels do not divide into " + std::to_string(groups) +
                      " groups",
                  "Use a number of groups that divides all channels.");
            break;
        }
    }
    if (settings.at("channels").size() > 0 &&
        settings.at("channels")[0].get<std::int64_t>() % 2 != 0) {
        error("channels", "the first level needs an even number of channels, for sines and cosines",
              "Use an even number.");
    }
    if (settings.at("times").get<std::int64_t>() %
            settings.at("sampling_steps").get<std::int64_t>() !=
        0) {
        error("sampling_steps",
              settings.at("sampling_steps").dump() + " steps do not divide " +
                  settings.at("times").dump() + " times",
              "Use a number that divides them, such as 50 of 1000.");
    }
    if (settings.at("label_dropout") == 0.0 && settings.at("guidance") != 1.0) {
        error("guidance", "guidance needs a network that can do without classes",
              "Set label_dropout to 0.1, or guidance to 1.");
    }
}

/// Signal and noise of a time, to be multiplied with samples [B, H, W, C].
struct Mix {
    ir::ValueId signal, noise;
};

class Diffusion {
public:
    Diffusion(ModelContext& context, const Json& settings)
        : context_(context), b_(context.builder()), settings_(settings),
          input_(context.data().input.shape), classes_(class_count(context.data())) {
        if (!ir::is_float(context.data().input.dtype) || input_.rank() != 3) {
            context.fail("diffusion needs images, but the data delivers " +
                             ir::to_text(context.data().input),
                         "Use model vae for features, gpt2 for text.");
        }
        if (input_[0] % patch() != 0 || input_[1] % patch() != 0) {
            context.fail("images of " + std::to_string(input_[0]) + " x " +
                             std::to_string(input_[1]) + " do not divide into patches of " +
                             std::to_string(patch()),
                         "Set patch of the model to a divisor of both, or resize the images.");
        }
        times_ = settings.at("times").get<std::int64_t>();
        const double step = (std::numbers::pi / 2 - kLeastSignal) / static_cast<double>(times_);
        const Scope scope(context, "times");
        // Of its two pairs of channels the second turns by theta^(-1/2) per time.
        mixes_ = waves_of(b_, times_ + 1, 4, 1.0 / (step * step));
        waves_ = waves_of(b_, times_ + 1, width(), kWaveBase);
    }

    /// What the network predicts of x [B, H, W, C] at `times` i32 [B] or [1]. `labels` i32 [B], or
    /// invalid where the data have no classes.
    ir::ValueId said_of(ir::ValueId x, ir::ValueId times, ir::ValueId labels) {
        embed(times, labels);
        const Json& channels = settings_.at("channels");
        ir::ValueIds kept;
        x = folded(x);
        {
            const Scope scope(context_, "stem");
            x = with_offset(context_, conv2d(context_, x, width(), 3));
        }
        for (std::size_t level = 0; level < channels.size(); ++level) {
            const Scope scope(context_, "down." + std::to_string(level));
            if (level > 0) {
                const Scope inner(context_, "shrink");
                x = with_offset(context_, conv2d(context_, x, context_.shape(x)[3], 3, 2));
            }
            for (std::int64_t i = 0; i < blocks(); ++i) {
                x = block(x, i, channels[level].get<std::int64_t>());
            }
            kept.push_back(x);
        }
        for (std::size_t level = channels.size(); level-- > 0;) {
            const Scope scope(context_, "up." + std::to_string(level));
            if (level + 1 < channels.size()) {
                x = b_.emit("concat", {grown(x, context_.shape(kept[level])), kept[level]},
                            {{"dim", std::int64_t{3}}});
            }
            for (std::int64_t i = 0; i < blocks(); ++i) {
                x = block(x, i, channels[level].get<std::int64_t>());
            }
        }
        x = activation(context_, "silu", normalised(x, "norm"));
        const Scope scope(context_, "output");
        return unfolded(with_offset(
            context_, conv2d(context_, x, patch() * patch() * input_[2], 3, 1, Init::zeros())));
    }

    /// Rows of the angles' table.
    Mix mix(ir::ValueId times) {
        const ir::ValueId rows = b_.emit("embedding", {mixes_, times});
        const std::int64_t n = context_.shape(rows)[0];
        const auto column = [&](std::int64_t channel) {
            return ops::reshape(b_, ops::slice(b_, rows, {0, channel}, {n, 1}), {n, 1, 1, 1});
        };
        return {column(1), column(3)};
    }

    ir::ValueId mixed(const Mix& mix, ir::ValueId sample, ir::ValueId noise) {
        return ops::add(b_, ops::mul(b_, sample, mix.signal), ops::mul(b_, noise, mix.noise));
    }

    /// What the network should say of a mix.
    ir::ValueId target(const Mix& mix, ir::ValueId sample, ir::ValueId noise) {
        return predicts_velocity()
                   ? ops::sub(b_, ops::mul(b_, noise, mix.signal), ops::mul(b_, sample, mix.noise))
                   : noise;
    }

    /// Times of a training batch, from 1 to T: i32 [B].
    ir::ValueId draw_times(std::int64_t samples) {
        const ir::ValueId part =
            ops::affine(b_, uniform("times", samples), static_cast<double>(times_));
        const ir::ValueId from_0 = ops::cast(b_, part, ir::DType::i32); // whole numbers below T
        return ops::cast(b_, ops::affine(b_, ops::cast(b_, from_0, ir::DType::f32), 1.0, 1.0),
                         ir::DType::i32);
    }

    /// `labels`, with that of no class in place of those below 0, and of others at random; invalid
    /// where the data have none.
    ir::ValueId drop_labels(ir::ValueId labels, std::int64_t samples) {
        if (!labels.valid()) {
            return labels;
        }
        const ir::ValueId known = known_labels(b_, labels, classes_);
        const auto rate = settings_.at("label_dropout").get<double>();
        if (rate == 0.0 || !context_.training()) {
            return known;
        }
        const ir::ValueId dropped =
            b_.emit("less", {uniform("labels", samples), ops::constant(b_, rate)});
        const ir::ValueId told =
            ops::select(b_, dropped, ops::constant(b_, static_cast<double>(classes_), {samples}),
                        ops::cast(b_, known, ir::DType::f32));
        return ops::cast(b_, told, ir::DType::i32);
    }

    ir::ValueId draw_noise(std::int64_t samples) {
        return b_.emit("random_normal", {context_.random()},
                       {{"shape", extents(samples)},
                        {"mean", 0.0},
                        {"stddev", 1.0},
                        {"stream", stream("noise")}});
    }

    /// DDIM from noise [B, H, W, C] at the last time to samples.
    ir::ValueId denoised(ir::ValueId noise, ir::ValueId labels) {
        const auto steps = settings_.at("sampling_steps").get<std::int64_t>();
        const double stride = static_cast<double>(times_) / static_cast<double>(steps);
        const ir::ValueId first = ops::constant(b_, static_cast<double>(times_), {1});
        return repeated(b_, steps, {noise, first}, [&](const ir::ValueIds& carried) {
            const ir::ValueId next = ops::affine(b_, carried[1], 1.0, -stride);
            const ir::ValueId times = ops::cast(b_, carried[1], ir::DType::i32);
            const Mix now = mix(times);
            const ir::ValueId x = carried[0];
            const ir::ValueId sample = clipped(sample_of(x, now, guided(x, times, labels)));
            const ir::ValueId rest =
                ops::div(b_, ops::sub(b_, x, ops::mul(b_, sample, now.signal)), now.noise);
            const Mix then = mix(ops::cast(b_, next, ir::DType::i32));
            return ir::ValueIds{mixed(then, sample, rest), next};
        })[0];
    }

    std::vector<std::int64_t> extents(std::int64_t samples) const {
        return {samples, input_[0], input_[1], input_[2]};
    }

private:
    static std::int64_t class_count(const DataShape& data) {
        return data.target.shape.rank() == 0 ? data.classes : 0;
    }

    std::int64_t width() const { return settings_.at("channels")[0].get<std::int64_t>(); }
    std::int64_t blocks() const { return settings_.at("blocks").get<std::int64_t>(); }

    bool predicts_velocity() const { return settings_.at("predicts") == "velocity"; }

    /// Of a mix, by what the network says of it.
    ir::ValueId sample_of(ir::ValueId x, const Mix& mix, ir::ValueId said) {
        const ir::ValueId unwanted = ops::mul(b_, said, mix.noise);
        return predicts_velocity() ? ops::sub(b_, ops::mul(b_, x, mix.signal), unwanted)
                                   : ops::div(b_, ops::sub(b_, x, unwanted), mix.signal);
    }

    std::int64_t patch() const { return settings_.at("patch").get<std::int64_t>(); }

    /// [B, H, W, C] -> [B, H/P, W/P, P P C]: the pixels of a patch become channels.
    ir::ValueId folded(ir::ValueId x) {
        const std::int64_t p = patch();
        if (p == 1) {
            return x;
        }
        const std::int64_t height = input_[0] / p, width = input_[1] / p, n = context_.shape(x)[0];
        x = ops::reshape(b_, x, {n, height, p, width, p, input_[2]});
        x = ops::transpose(b_, x, {0, 1, 3, 2, 4, 5});
        return ops::reshape(b_, x, {n, height, width, p * p * input_[2]});
    }

    /// The way back.
    ir::ValueId unfolded(ir::ValueId x) {
        const std::int64_t p = patch();
        if (p == 1) {
            return x;
        }
        const std::int64_t height = input_[0] / p, width = input_[1] / p, n = context_.shape(x)[0];
        x = ops::reshape(b_, x, {n, height, width, p, p, input_[2]});
        x = ops::transpose(b_, x, {0, 1, 3, 2, 4, 5});
        return ops::reshape(b_, x, {n, input_[0], input_[1], input_[2]});
    }

    std::string stream(const char* name) const {
        return std::string(name) + (context_.training() ? "" : ".evaluation");
    }

    ir::ValueId uniform(const char* name, std::int64_t samples) {
        return b_.emit("random_uniform", {context_.random()},
                       {{"shape", std::vector<std::int64_t>{samples}},
                        {"low", 0.0},
                        {"high", 1.0},
                        {"stream", stream(name)}});
    }

    /// What every block is told of time and class: [B or 1, E].
    void embed(ir::ValueId times, ir::ValueId labels) {
        const std::int64_t wide = 4 * width();
        const auto layer = [&](const char* name, ir::ValueId x) {
            const Scope scope(context_, name);
            return dense(context_, x, wide, Init::fan_in(context_.shape(x).back()),
                         {"embed", "mlp"});
        };
        const Scope scope(context_, "condition");
        ir::ValueId x = layer("time", b_.emit("embedding", {waves_, times}));
        if (labels.valid()) {
            x = ops::add(b_, x, class_vectors(context_, labels, wide, Init::normal(0.02)));
        }
        x = layer("mix", activation(context_, "silu", x));
        told_ = activation(context_, "silu", x);
    }

    ir::ValueId normalised(ir::ValueId x, const char* name) {
        const Scope scope(context_, name);
        return group_norm(context_, x, settings_.at("groups").get<std::int64_t>(),
                          kDiffusionNormEps);
    }

    ir::ValueId convolved(ir::ValueId x, const char* name, std::int64_t channels,
                          std::int64_t kernel) {
        const Scope scope(context_, name);
        return with_offset(context_, conv2d(context_, x, channels, kernel));
    }

    /// Norm, activation, convolution, twice, with what it is told in between.
    ir::ValueId block(ir::ValueId x, std::int64_t number, std::int64_t channels) {
        const Scope scope(context_, "blocks." + std::to_string(number));
        ir::ValueId y = activation(context_, "silu", normalised(x, "norm1"));
        y = convolved(y, "conv1", channels, 3);
        {
            const Scope inner(context_, "condition");
            const ir::ValueId told =
                dense(context_, told_, channels, Init::fan_in(context_.shape(told_).back()),
                      {"embed", "mlp"});
            y = ops::add(b_, y, ops::reshape(b_, told, {context_.shape(told)[0], 1, 1, channels}));
        }
        y = activation(context_, "silu", normalised(y, "norm2"));
        y = convolved(y, "conv2", channels, 3);
        if (context_.shape(x)[3] != channels) {
            x = convolved(x, "shortcut", channels, 1);
        }
        return ops::add(b_, x, y);
    }

    /// Twice as large, and cut to the extent of what it is joined with.
    ir::ValueId grown(ir::ValueId x, ir::Shape to) {
        x = upsample(context_, x, 2);
        const ir::Shape shape = context_.shape(x);
        return shape[1] == to[1] && shape[2] == to[2]
                   ? x
                   : ops::slice(b_, x, {0, 0, 0, 0}, {shape[0], to[1], to[2], shape[3]});
    }

    ir::ValueId guided(ir::ValueId x, ir::ValueId times, ir::ValueId labels) {
        const auto guidance = settings_.at("guidance").get<double>();
        const ir::ValueId of_class = said_of(x, times, labels);
        if (!labels.valid() || guidance == 1.0) {
            return of_class;
        }
        const ir::ValueId none = ops::cast(
            b_, ops::constant(b_, static_cast<double>(classes_), {context_.shape(labels)[0]}),
            ir::DType::i32);
        const ir::ValueId of_none = said_of(x, times, none);
        return ops::add(b_, of_none, ops::affine(b_, ops::sub(b_, of_class, of_none), guidance));
    }

    ir::ValueId clipped(ir::ValueId x) {
        const Json& clip = settings_.at("clip");
        if (clip.is_null()) {
            return x;
        }
        const auto limit = clip.get<double>();
        return ops::minimum(b_, ops::maximum(b_, x, ops::constant(b_, -limit)),
                            ops::constant(b_, limit));
    }

    ModelContext& context_;
    ops::Builder& b_;
    const Json& settings_;
    ir::Shape input_;
    std::int64_t classes_;
    std::int64_t times_ = 0;
    ir::ValueId mixes_, waves_; // [T + 1, 4], [T + 1, width]
    ir::ValueId told_;
};

// With nothing drawn the sample is taken as it is, at the first time.
ir::ValueId build_diffusion(ModelContext& context, const Json& settings, ir::ValueId inputs) {
    Diffusion diffusion(context, settings);
    ops::Builder& b = context.builder();
    const std::int64_t samples = context.shape(inputs)[0];
    if (!context.random().valid()) {
        const ir::ValueId first = ops::cast(b, ops::constant(b, 1.0, {samples}), ir::DType::i32);
        return flatten(
            context,
            diffusion.said_of(inputs, first, diffusion.drop_labels(context.labels(), samples)));
    }
    const ir::ValueId times = diffusion.draw_times(samples);
    const ir::ValueId noise = diffusion.draw_noise(samples);
    const Mix mix = diffusion.mix(times);
    const ir::ValueId x = diffusion.mixed(mix, inputs, noise);
    context.publish("denoising_target", flatten(context, diffusion.target(mix, inputs, noise)));
    return flatten(context,
                   diffusion.said_of(x, times, diffusion.drop_labels(context.labels(), samples)));
}

ir::Shape diffusion_latent(const DataShape& data, const Json&) {
    return data.input.shape;
}

ir::ValueId make_diffusion_samples(ModelContext& context, const Json& settings,
                                   ir::ValueId latents) {
    return Diffusion(context, settings).denoised(latents, context.labels());
}

} // namespace

const ModelDef kDiffusionModel = {
    .name = "diffusion",
    .help =
        "Denoising diffusion with a small U-Net: makes images like those of the data, of a "
        "class where there are classes. Trained by the loss denoising; images are best moved to "
        "-1 to 1.",
    .tensors = "stem.weight [3, 3, in, out]\n"
               "stem.bias [out]\n"
               "condition.time.weight [in, out]\n"
               "condition.time.bias [out]\n"
               "condition.label.weight [classes + 1, out]\n"
               "condition.mix.weight [in, out]\n"
               "condition.mix.bias [out]\n"
               "down.*.shrink.weight [3, 3, in, out]\n"
               "down.*.shrink.bias [out]\n"
               "down.*.blocks.*.norm1.weight [C]\n"
               "down.*.blocks.*.norm1.bias [C]\n"
               "down.*.blocks.*.conv1.weight [3, 3, in, out]\n"
               "down.*.blocks.*.conv1.bias [out]\n"
               "down.*.blocks.*.condition.weight [in, out]\n"
               "down.*.blocks.*.condition.bias [out]\n"
               "down.*.blocks.*.norm2.weight [C]\n"
               "down.*.blocks.*.norm2.bias [C]\n"
               "down.*.blocks.*.conv2.weight [3, 3, in, out]\n"
               "down.*.blocks.*.conv2.bias [out]\n"
               "down.*.blocks.*.shortcut.weight [1, 1, in, out]\n"
               "down.*.blocks.*.shortcut.bias [out]\n"
               "up.*.blocks.* as those of down.*\n"
               "norm.weight [C]\n"
               "norm.bias [C]\n"
               "output.weight [3, 3, in, out]\n"
               "output.bias [out]\n",
    .fields = diffusion_fields,
    .build = build_diffusion,
    .check = check_diffusion,
    .loss = "denoising",
    .draws = true,
    .latent = diffusion_latent,
    .make = make_diffusion_samples,
    .takes_labels = true};

} // namespace weft::nn
