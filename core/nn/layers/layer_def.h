// SPDX-License-Identifier: Apache-2.0
// The record of a layer of the `sequential` model: name, settings, how it is built. One record per
// layer, listed in layer_list.h.
#pragma once

#include "core/config/field.h"
#include "core/nn/model_context.h"

#include <optional>
#include <string_view>

namespace weft::nn {

struct LayerDef {
    std::string_view name;
    std::string_view help;
    /// Settings. `depth` says how many levels of layers may still be nested inside.
    config::FieldTable (*fields)(int depth);
    /// x -> output, both with a leading batch dimension. Throws weft::Error{usage} at the layer's
    /// path when x does not fit.
    ir::ValueId (*build)(ModelContext& context, const config::Json& settings, ir::ValueId x);
    bool structured = false; // holds layers itself
};

/// Of layers without settings.
inline config::FieldTable no_fields(int) {
    return {};
}

/// Layers inside layers inside `sequential`: residual in repeat in branches.
constexpr int kLayerDepth = 3;

/// A list of layers as a field, e.g. "layers".
config::Field layers_field(std::string name, int depth, std::string help);
/// Builds the layers of a normalised list one after the other in the scopes "<name>.0", "<name>.1",
/// ...
ir::ValueId build_layers(ModelContext& context, const config::Json& list, std::string_view name,
                         ir::ValueId x);

/// [B, a, b, ...] -> [B, a * b * ...]
ir::ValueId flatten(ModelContext& context, ir::ValueId x);
/// x [..., K] -> [..., units] with "weight" [K, units] and "bias" [units] of the current scope, and
/// the adapter that the context has for the weight.
ir::ValueId dense(ModelContext& context, ir::ValueId x, std::int64_t units, Init weight_init,
                  const std::vector<std::string>& weight_axes, bool bias = true,
                  const std::string& weight_norm = "none");
/// What a sample's class adds to a model: labels i32 [B], from 0 to the number of classes, which is
/// that of no class -> [B, width], rows of "label.weight" [classes + 1, width] of the current
/// scope.
ir::ValueId class_vectors(ModelContext& context, ir::ValueId labels, std::int64_t width, Init init);
/// A setting "weight_norm" of layers with a weight: none, weight or spectral.
config::Field weight_norm_field();
/// A weight [..., outputs] as such a setting has it: with "gain" [outputs] of the current scope the
/// direction of each output's weights times a learned length (Salimans and Kingma 2016); or divided
/// by its largest singular value as a matrix, which one step of power iteration follows in each
/// microstep, with the statistics "left" and "right" (Miyato et al. 2018, algorithm 1).
ir::ValueId normalised_weight(ModelContext& context, const std::string& how, ir::ValueId weight);

/// Over the last dimension, with "weight" and "bias" of the current scope.
ir::ValueId layer_norm(ModelContext& context, ir::ValueId x, double eps);
/// Over the last dimension, with "weight" of the current scope (Zhang and Sennrich 2019).
ir::ValueId rms_norm(ModelContext& context, ir::ValueId x, double eps);
/// Each channel over the batch, with "weight", "bias", "running_mean" and "running_variance" of the
/// current scope; `momentum` is the weight of the newest batch in the running statistics.
ir::ValueId batch_norm(ModelContext& context, ir::ValueId x, double momentum, double eps);

/// The variables of a batch normalisation, each [C]; afterwards its result and, while training, the
/// new running statistics.
struct BatchNormVariables {
    ir::ValueId scale, shift, mean, variance;
};
struct BatchNormResult {
    ir::ValueId y, mean, variance; // statistics invalid where nothing trains
};
BatchNormResult batch_norm_of(ModelContext& context, ir::ValueId x,
                              const BatchNormVariables& variables, double momentum, double eps);
/// x [..., C] in `groups` of neighbouring channels, each normalised over all points of a sample
/// (Wu and He 2018, "Group normalization"), with "weight" [C] and "bias" [C] of the current scope.
/// `groups` divides C; as many as channels: instance normalisation (Ulyanov et al. 2016).
ir::ValueId group_norm(ModelContext& context, ir::ValueId x, std::int64_t groups, double eps);

/// [B, H, W, C] -> [B, H', W', channels] with "weight" [kernel, kernel, C, channels] of the current
/// scope, padded so that H' = ceil(H / stride); without an offset. `init` is that of fan_in unless
/// given.
ir::ValueId conv2d(ModelContext& context, ir::ValueId x, std::int64_t channels, std::int64_t kernel,
                   std::int64_t stride = 1, std::optional<Init> init = {});
/// x [..., C] plus "bias" [C] of the current scope.
ir::ValueId with_offset(ModelContext& context, ir::ValueId x);

/// What a transposed convolution makes of [B, h, w, C]: an image [B, height, width, channels] that
/// a convolution with this kernel, stride and padding would turn into one of h x w.
struct TransposedConv2d {
    std::int64_t channels = 0, kernel = 0, stride = 0, height = 0, width = 0;
    bool same = true; // padding, else none
};
/// With "weight" [kernel, kernel, channels, C] of the current scope; without an offset.
ir::ValueId conv2d_transpose(ModelContext& context, ir::ValueId x, const TransposedConv2d& how);
/// [B, H, W, C] -> [B, H * factor, W * factor, C], each pixel repeated.
ir::ValueId upsample(ModelContext& context, ir::ValueId x, std::int64_t factor);
/// Cosines, then sines, of row theta^(-2 i / channels): [rows, channels], an even number.
ir::ValueId waves_of(ops::Builder& builder, std::int64_t rows, std::int64_t channels, double theta);
constexpr double kWaveBase = 10000.0; // theta of Vaswani et al. 2017, section 3.5
/// x itself unless training with rate > 0. The random stream is the layer path.
ir::ValueId dropout(ModelContext& context, ir::ValueId x, double rate);
/// One of activation_names().
ir::ValueId activation(ModelContext& context, const std::string& name, ir::ValueId x);
std::vector<std::string> activation_names();

/// Throws weft::Error{usage} where y is no prediction for the data: [B, outputs], or [B, positions,
/// outputs] where every position has a target.
void require_prediction(ModelContext& context, ir::ValueId y);

} // namespace weft::nn
