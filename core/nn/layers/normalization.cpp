// SPDX-License-Identifier: Apache-2.0
// Layer normalisation (Ba et al. 2016), RMS normalisation (Zhang and Sennrich 2019) and batch
// normalisation (Ioffe and Szegedy 2015), group normalisation (Wu and He 2018).
#include "core/nn/layers/layer_list.h"

namespace weft::nn {

ir::ValueId layer_norm(ModelContext& context, ir::ValueId x, double eps) {
    const std::int64_t channels = context.shape(x).back();
    const ir::ValueId scale = context.parameter("weight", {channels}, Init::ones(), {"embed"});
    const ir::ValueId shift = context.parameter("bias", {channels}, Init::zeros(), {"embed"});
    return context.builder().emit("layer_norm", {x, scale, shift}, {{"eps", eps}});
}

ir::ValueId rms_norm(ModelContext& context, ir::ValueId x, double eps) {
    const ir::ValueId scale =
        context.parameter("weight", {context.shape(x).back()}, Init::ones(), {"embed"});
    return context.builder().emit("rms_norm", {x, scale}, {{"eps", eps}});
}

namespace {

/// running + rate * (batch - running); rate is 0 for a batch of padding only.
ir::ValueId moved(ops::Builder& b, ir::ValueId running, ir::ValueId batch, ir::ValueId rate) {
    return ops::add(b, running, ops::mul(b, ops::sub(b, batch, running), rate));
}

} // namespace

// Statistics run over the real samples of a microstep only. The running variance takes the unbiased
// estimate, as PyTorch's does, so that weights move between the two.
BatchNormResult batch_norm_of(ModelContext& context, ir::ValueId x,
                              const BatchNormVariables& variables, double momentum, double eps) {
    ops::Builder& b = context.builder();
    const auto& [scale, shift, mean, variance] = variables;
    const ir::Shape shape = context.shape(x);
    if (!context.training()) {
        return {b.emit("batch_norm_inference", {x, scale, shift, mean, variance}, {{"eps", eps}}),
                {},
                {}};
    }
    const auto outputs =
        b.emit_all("batch_norm", {x, scale, shift, context.weights()}, {{"eps", eps}});

    const std::int64_t points = shape.elements() / shape[0] / shape.back();
    const ir::ValueId count =
        ops::affine(b, ops::reduce_sum(b, context.weights(), {0}), static_cast<double>(points));
    const ir::ValueId one = ops::constant(b, 1.0);
    const ir::ValueId seen = ops::minimum(b, count, one);
    const ir::ValueId rate = ops::affine(b, seen, momentum);
    const ir::ValueId unbiased =
        ops::div(b, count, ops::maximum(b, ops::affine(b, count, 1.0, -1.0), one));
    const ir::ValueId new_mean = moved(b, mean, outputs[1], rate);
    return {outputs[0], new_mean, moved(b, variance, ops::mul(b, outputs[2], unbiased), rate)};
}

ir::ValueId batch_norm(ModelContext& context, ir::ValueId x, double momentum, double eps) {
    const std::int64_t channels = context.shape(x).back();
    BatchNormVariables variables;
    variables.scale = context.parameter("weight", {channels}, Init::ones(), {"embed"});
    variables.shift = context.parameter("bias", {channels}, Init::zeros(), {"embed"});
    variables.mean = context.statistic("running_mean", {channels}, Init::zeros());
    variables.variance = context.statistic("running_variance", {channels}, Init::ones());
    const BatchNormResult out = batch_norm_of(context, x, variables, momentum, eps);
    if (context.training()) {
        context.update("running_mean", out.mean);
        context.update("running_variance", out.variance);
    }
    return out.y;
}

// The rows of a layer normalisation are the groups: its kernel keeps statistics in f32 whatever the
// precision.
ir::ValueId group_norm(ModelContext& context, ir::ValueId x, std::int64_t groups, double eps) {
    ops::Builder& b = context.builder();
    const ir::Shape shape = context.shape(x);
    const std::int64_t channels = shape.back();
    const std::int64_t samples = shape[0];
    const std::int64_t points = shape.elements() / samples / channels;
    const std::int64_t row = points * (channels / groups);
    const std::vector<std::int64_t> swapped = {0, 2, 1, 3};
    ir::ValueId y = ops::reshape(b, x, {samples, points, groups, channels / groups});
    y = ops::transpose(b, y, swapped);
    y = b.emit("layer_norm",
               {ops::reshape(b, y, {samples, groups, row}), ops::constant(b, 1.0, {row}),
                ops::constant(b, 0.0, {row})},
               {{"eps", eps}});
    y = ops::reshape(b, y, {samples, groups, points, channels / groups});
    y = ops::reshape(b, ops::transpose(b, y, swapped), shape);
    const ir::ValueId scale = context.parameter("weight", {channels}, Init::ones(), {"embed"});
    const ir::ValueId shift = context.parameter("bias", {channels}, Init::zeros(), {"embed"});
    return ops::add(b, ops::mul(b, y, scale), shift);
}

namespace {

config::Field eps_field() {
    return config::real_field("eps", 1e-5, "Added to the variance or mean square.")
        .above(0.0)
        .for_experts();
}

config::FieldTable row_norm_fields(int) {
    return {eps_field()};
}

ir::ValueId build_layer_norm(ModelContext& context, const config::Json& settings, ir::ValueId x) {
    return layer_norm(context, x, settings.at("eps").get<double>());
}

ir::ValueId build_rms_norm(ModelContext& context, const config::Json& settings, ir::ValueId x) {
    return rms_norm(context, x, settings.at("eps").get<double>());
}

config::FieldTable batch_norm_fields(int) {
    return {
        config::real_field("momentum", 0.1, "Weight of the newest batch in the running statistics.")
            .range(0.0, 1.0),
        eps_field()};
}

ir::ValueId build_batch_norm(ModelContext& context, const config::Json& settings, ir::ValueId x) {
    return batch_norm(context, x, settings.at("momentum").get<double>(),
                      settings.at("eps").get<double>());
}

config::FieldTable group_norm_fields(int) {
    return {config::integer_field("groups", 8, "Groups of channels; divides their number.")
                .range(1, 1 << 20),
            eps_field()};
}

ir::ValueId build_group_norm(ModelContext& context, const config::Json& settings, ir::ValueId x) {
    const auto groups = settings.at("groups").get<std::int64_t>();
    const std::int64_t channels = context.shape(x).back();
    if (channels % groups != 0) {
        context.fail(std::to_string(channels) + " channels do not divide into " +
                         std::to_string(groups) + " groups",
                     "Use a number of groups that divides the channels.");
    }
    return group_norm(context, x, groups, settings.at("eps").get<double>());
}

ir::ValueId build_instance_norm(ModelContext& context, const config::Json& settings,
                                ir::ValueId x) {
    if (context.shape(x).rank() < 3) {
        context.fail("its input is " + ir::to_text(context.builder().type(x)) +
                         ", but it needs several points per channel",
                     "Use it on images or sequences, before flatten.");
    }
    return group_norm(context, x, context.shape(x).back(), settings.at("eps").get<double>());
}

} // namespace

const LayerDef kLayerNormLayer = {"layer_norm", "Normalises each row over its last dimension.",
                                  row_norm_fields, build_layer_norm};
const LayerDef kRmsNormLayer = {"rms_norm", "Divides each row by its root mean square.",
                                row_norm_fields, build_rms_norm};
const LayerDef kBatchNormLayer = {"batch_norm", "Normalises each channel over the batch.",
                                  batch_norm_fields, build_batch_norm};
const LayerDef kGroupNormLayer = {"group_norm",
                                  "Normalises groups of channels over the points of each sample.",
                                  group_norm_fields, build_group_norm};
const LayerDef kInstanceNormLayer = {"instance_norm",
                                     "Normalises each channel over the points of each sample.",
                                     row_norm_fields, build_instance_norm};

} // namespace weft::nn
