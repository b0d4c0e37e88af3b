// SPDX-License-Identifier: Apache-2.0
// Weights that are held in size, whatever gradients do to them.
#include "core/nn/layers/layer_def.h"

#include <cmath>

namespace weft::nn {
namespace {

constexpr double kWeightNormEps = 1e-12; // added to squares of lengths

/// x / |x| of a vector [K].
ir::ValueId unit(ops::Builder& b, ir::ValueId x) {
    const ir::ValueId squares = ops::reduce_sum(b, b.emit("square", {x}), {0});
    return ops::mul(b, x, b.emit("rsqrt", {ops::affine(b, squares, 1.0, kWeightNormEps)}));
}

/// [M, K] times [K].
ir::ValueId times_vector(ops::Builder& b, ir::ValueId matrix, ir::ValueId vector, bool transposed) {
    const std::int64_t size = b.shape(vector)[0];
    const ir::ValueId column = ops::reshape(b, vector, {size, 1});
    const ir::ValueId y = ops::matmul(b, matrix, column, transposed);
    return ops::reshape(b, ops::cast(b, y, ir::DType::f32), {b.shape(y)[0]});
}

// A fresh weight of fan in has rows of about this length.
ir::ValueId of_learned_length(ModelContext& context, ir::ValueId matrix) {
    ops::Builder& b = context.builder();
    const ir::ValueId gain = context.parameter("gain", {context.shape(matrix)[1]},
                                               Init::constant(1.0 / std::sqrt(3.0)), {"mlp"});
    const ir::ValueId squares = ops::reduce_sum(b, b.emit("square", {matrix}), {0});
    const ir::ValueId inverse = b.emit("rsqrt", {ops::affine(b, squares, 1.0, kWeightNormEps)});
    return ops::mul(b, matrix, ops::mul(b, gain, inverse));
}

// Neither vector is trained through. In the order of PyTorch, which starts at the other end than
// the paper.
ir::ValueId of_largest_stretch_1(ModelContext& context, ir::ValueId matrix) {
    ops::Builder& b = context.builder();
    const ir::Shape shape = context.shape(matrix);
    ir::ValueId left = context.statistic("left", {shape[0]}, Init::normal(1.0));
    ir::ValueId right = context.statistic("right", {shape[1]}, Init::normal(1.0));
    if (context.training()) {
        const ir::ValueId still = b.emit("stop_gradient", {matrix});
        right = unit(b, times_vector(b, still, left, true));
        left = unit(b, times_vector(b, still, right, false));
        context.update("left", left);
        context.update("right", right);
        left = b.emit("stop_gradient", {left});
        right = b.emit("stop_gradient", {right});
    } else {
        left = unit(b, left);
        right = unit(b, right);
    }
    const ir::ValueId stretch =
        ops::reduce_sum(b, ops::mul(b, left, times_vector(b, matrix, right, false)), {0});
    return ops::div(b, matrix, stretch);
}

} // namespace

config::Field weight_norm_field() {
    return config::choice_field(
        "weight_norm", "none", {"none", "weight", "spectral"},
        "weight: the weights of each output have a learned length, apart from their direction; "
        "spectral: the layer stretches nothing by more than 1.");
}

ir::ValueId normalised_weight(ModelContext& context, const std::string& how, ir::ValueId weight) {
    if (how == "none") {
        return weight;
    }
    ops::Builder& b = context.builder();
    const ir::Shape shape = context.shape(weight);
    const std::int64_t outputs = shape.back();
    const ir::ValueId matrix = ops::reshape(b, weight, {shape.elements() / outputs, outputs});
    return ops::reshape(b,
                        how == "weight" ? of_learned_length(context, matrix)
                                        : of_largest_stretch_1(context, matrix),
                        shape);
}

} // namespace weft::nn
