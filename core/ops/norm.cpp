// SPDX-License-Identifier: Apache-2.0
// Layer normalisation (Ba, Kiros, Hinton 2016) and RMS normalisation (Zhang, Sennrich 2019).
// Gains, shifts and statistics stay f32 under a lower compute precision.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

using ir::ValueId;

constexpr AttributeDef kEps{"eps", AttributeKind::real, true, "added to the variance"};
constexpr AttributeDef kSquareEps{"eps", AttributeKind::real, true, "added to the mean square"};

// --- layer_norm --------------------------------------------------------------------------------

Inferred infer_layer_norm(const OpView& view) {
    if (const std::string wrong = want_features(view, {{"scale", 1}, {"shift", 2}});
        !wrong.empty()) {
        return fail(wrong);
    }
    const ir::Type& x = view.input(0);
    const ir::Type statistic{statistics_dtype(x.dtype), leading(x.shape)};
    return {{x, statistic, statistic}, {}};
}

void layer_norm_gradient(GradientContext& c) {
    only_first_output(c);
    Builder& b = c.builder();
    const ValueId mean = c.output(1);
    const ValueId rstd = c.output(2);
    if (c.needs(0)) {
        c.set(0,
              b.emit("layer_norm_input_grad", {c.input(0), c.input(1), mean, rstd, c.upstream()}));
    }
    if (c.needs(1) || c.needs(2)) {
        const auto grads =
            b.emit_all("layer_norm_param_grad", {c.input(0), mean, rstd, c.upstream()});
        c.set(1, grads[0]);
        c.set(2, grads[1]);
    }
}

FactorRule layer_norm_factors(const OpView& view) {
    return einsum(view, "...c,c,c->...c,...,...", {{'c', Combine::whole}});
}

Inferred infer_layer_norm_input_grad(const OpView& view) {
    const ir::Type& x = view.input(0);
    std::string wrong = want_features(view, {{"scale", 1}});
    if (wrong.empty()) {
        const ir::Shape rows = leading(x.shape);
        wrong = first_of({want_shape("mean", view.input(2), rows),
                          want_shape("rstd", view.input(3), rows),
                          want_shape("dy", view.input(4), x.shape)});
    }
    return wrong.empty() ? Inferred{{x}, {}} : fail(wrong);
}

FactorRule layer_norm_input_grad_factors(const OpView& view) {
    return einsum(view, "...c,c,...,...,...c->...c", {{'c', Combine::whole}});
}

Inferred infer_layer_norm_param_grad(const OpView& view) {
    const ir::Type& x = view.input(0);
    std::string wrong = want_features(view, {});
    if (wrong.empty()) {
        const ir::Shape rows = leading(x.shape);
        wrong = first_of({want_shape("mean", view.input(1), rows),
                          want_shape("rstd", view.input(2), rows),
                          want_shape("dy", view.input(3), x.shape)});
    }
    if (!wrong.empty()) {
        return fail(wrong);
    }
    const ir::Type vector{statistics_dtype(x.dtype), {x.shape.back()}};
    return {{vector, vector}, {}};
}

FactorRule layer_norm_param_grad_factors(const OpView& view) {
    return einsum(view, "...c,...,...,...c->c,c", {{'.', Combine::sum, 0.0}});
}

// --- rms_norm ----------------------------------------------------------------------------------

Inferred infer_rms_norm(const OpView& view) {
    if (const std::string wrong = want_features(view, {{"scale", 1}}); !wrong.empty()) {
        return fail(wrong);
    }
    const ir::Type& x = view.input(0);
    return {{x, {statistics_dtype(x.dtype), leading(x.shape)}}, {}};
}

void rms_norm_gradient(GradientContext& c) {
    only_first_output(c);
    Builder& b = c.builder();
    const ValueId rstd = c.output(1);
    if (c.needs(0)) {
        c.set(0, b.emit("rms_norm_input_grad", {c.input(0), c.input(1), rstd, c.upstream()}));
    }
    if (c.needs(1)) {
        c.set(1, b.emit("rms_norm_param_grad", {c.input(0), rstd, c.upstream()}));
    }
}

FactorRule rms_norm_factors(const OpView& view) {
    return einsum(view, "...c,c->...c,...", {{'c', Combine::whole}});
}

Inferred infer_rms_norm_input_grad(const OpView& view) {
    const ir::Type& x = view.input(0);
    std::string wrong = want_features(view, {{"scale", 1}});
    if (wrong.empty()) {
        wrong = first_of({want_shape("rstd", view.input(2), leading(x.shape)),
                          want_shape("dy", view.input(3), x.shape)});
    }
    return wrong.empty() ? Inferred{{x}, {}} : fail(wrong);
}

FactorRule rms_norm_input_grad_factors(const OpView& view) {
    return einsum(view, "...c,c,...,...c->...c", {{'c', Combine::whole}});
}

Inferred infer_rms_norm_param_grad(const OpView& view) {
    const ir::Type& x = view.input(0);
    std::string wrong = want_features(view, {});
    if (wrong.empty()) {
        wrong = first_of({want_shape("rstd", view.input(1), leading(x.shape)),
                          want_shape("dy", view.input(2), x.shape)});
    }
    return wrong.empty() ? Inferred{{{statistics_dtype(x.dtype), {x.shape.back()}}}, {}}
                         : fail(wrong);
}

FactorRule rms_norm_param_grad_factors(const OpView& view) {
    return einsum(view, "...c,...,...c->c", {{'.', Combine::sum, 0.0}});
}

} // namespace

const OpDef kLayerNorm{.name = "layer_norm",
                       .help = "x [..., C], scale [C], shift [C] -> y, mean [...], rstd [...]",
                       .min_inputs = 3,
                       .max_inputs = 3,
                       .attributes = {kEps},
                       .infer = infer_layer_norm,
                       .gradient = layer_norm_gradient,
                       .factors = layer_norm_factors,
                       .cost = norm_cost,
                       .full_inputs = {1, 2},
                       .full_outputs = {1, 2}};

const OpDef kLayerNormInputGrad{.name = "layer_norm_input_grad",
                                .help = "x, scale, mean, rstd, dy -> dx",
                                .min_inputs = 5,
                                .max_inputs = 5,
                                .infer = infer_layer_norm_input_grad,
                                .factors = layer_norm_input_grad_factors,
                                .cost = norm_cost,
                                .full_inputs = {1, 2, 3}};

const OpDef kLayerNormParamGrad{.name = "layer_norm_param_grad",
                                .help = "x, mean, rstd, dy -> dscale [C], dshift [C]",
                                .min_inputs = 4,
                                .max_inputs = 4,
                                .infer = infer_layer_norm_param_grad,
                                .factors = layer_norm_param_grad_factors,
                                .cost = norm_cost,
                                .full_inputs = {1, 2},
                                .full_outputs = {0, 1}};

const OpDef kRmsNorm{.name = "rms_norm",
                     .help = "x [..., C], scale [C] -> y = x rstd scale, rstd [...]",
                     .min_inputs = 2,
                     .max_inputs = 2,
                     .attributes = {kSquareEps},
                     .infer = infer_rms_norm,
                     .gradient = rms_norm_gradient,
                     .factors = rms_norm_factors,
                     .cost = norm_cost,
                     .full_inputs = {1},
                     .full_outputs = {1}};

const OpDef kRmsNormInputGrad{.name = "rms_norm_input_grad",
                              .help = "x, scale, rstd, dy -> dx",
                              .min_inputs = 4,
                              .max_inputs = 4,
                              .infer = infer_rms_norm_input_grad,
                              .factors = rms_norm_input_grad_factors,
                              .cost = norm_cost,
                              .full_inputs = {1, 2}};

const OpDef kRmsNormParamGrad{.name = "rms_norm_param_grad",
                              .help = "x, rstd, dy -> dscale [C]",
                              .min_inputs = 3,
                              .max_inputs = 3,
                              .infer = infer_rms_norm_param_grad,
                              .factors = rms_norm_param_grad_factors,
                              .cost = norm_cost,
                              .full_inputs = {1},
                              .full_outputs = {0}};

} // namespace weft::ops
