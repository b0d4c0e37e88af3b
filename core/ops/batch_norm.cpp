// SPDX-License-Identifier: Apache-2.0
// Batch normalisation (Ioffe, Szegedy 2015): by the statistics of the batch, and by given ones.
// Gains, shifts and statistics stay f32 under a lower compute precision.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"
#include "core/ops/split.h"

namespace weft::ops {
namespace {

using ir::ValueId;

using ir::ValueIds;

constexpr AttributeDef kBatchEps{"eps", AttributeKind::real, true, "added to the variance"};

// --- batch_norm --------------------------------------------------------------------------------

Inferred infer_batch_norm(const OpView& view) {
    const ir::Type& x = view.input(0);
    std::string wrong = want_features(view, {{"scale", 1}, {"shift", 2}});
    if (wrong.empty() && x.shape.rank() < 2) {
        wrong = "x needs a sample and a feature dimension, but is " + word(x);
    }
    if (wrong.empty() && view.inputs() == 4) {
        wrong = want_shape("weights", view.input(3), {x.shape[0]});
    }
    if (!wrong.empty()) {
        return fail(wrong);
    }
    const ir::Type statistic{statistics_dtype(x.dtype), {x.shape.back()}};
    return {{x, statistic, statistic}, {}};
}

void batch_norm_gradient(GradientContext& c) {
    only_first_output(c);
    ValueIds operands{c.input(0), c.input(1), c.output(1), c.output(2), c.upstream()};
    if (c.inputs() == 4) {
        operands.push_back(c.input(3));
    }
    const auto grads =
        c.builder().emit_all("batch_norm_grad", operands, {{"eps", c.op().attributes.real("eps")}});
    for (int i = 0; i < 3; ++i) {
        c.set(i, grads[static_cast<std::size_t>(i)]);
    }
}

// "nhw..." of x as explicit letters, because the sample dimension is shared with the weights.
std::string batch_dims(const OpView& view) {
    return std::string("nijklpq").substr(0,
                                         static_cast<std::size_t>(view.input(0).shape.rank()) - 1);
}

FactorRule batch_factors(const OpView& view, const std::string& notation) {
    constexpr Combine whole = Combine::whole;
    return einsum(view, notation,
                  {{'n', Combine::custom},
                   {'i', whole},
                   {'j', whole},
                   {'k', whole},
                   {'l', whole},
                   {'p', whole},
                   {'q', whole}});
}

FactorRule batch_norm_factors(const OpView& view) {
    const std::string x = batch_dims(view) + "c";
    return batch_factors(view, x + ",c,c,n->" + x + ",c,c");
}

Inferred infer_batch_norm_grad(const OpView& view) {
    const ir::Type& x = view.input(0);
    std::string wrong = want_features(view, {{"scale", 1}, {"mean", 2}, {"variance", 3}});
    if (wrong.empty()) {
        wrong = want_shape("dy", view.input(4), x.shape);
    }
    if (wrong.empty() && x.shape.rank() < 2) {
        wrong = "x needs a sample and a feature dimension, but is " + word(x);
    }
    if (wrong.empty() && view.inputs() == 6) {
        wrong = want_shape("weights", view.input(5), {x.shape[0]});
    }
    if (!wrong.empty()) {
        return fail(wrong);
    }
    const ir::Type vector{statistics_dtype(x.dtype), {x.shape.back()}};
    return {{x, vector, vector}, {}};
}

FactorRule batch_norm_grad_factors(const OpView& view) {
    const std::string x = batch_dims(view) + "c";
    return batch_factors(view, x + ",c,c,c," + x + ",n->" + x + ",c,c");
}

// --- batch_norm on a part of the samples -------------------------------------------------------

/// What both directions need: everything in the type of the statistics.
struct BatchPart {
    SplitContext& c;
    int samples;     // the factor
    ValueId given;   // f32[N]; without sample weights every real sample counts once
    ValueId weights; // [N, 1, ...]
    ir::DType dtype;
    std::int64_t channels;

    BatchPart(SplitContext& context, std::size_t weights_at)
        : c(context), samples(factor_of(context.rule().inputs[0], 0)),
          dtype(statistics_dtype(context.builder().type(context.input(0)).dtype)),
          channels(context.builder().shape(context.input(0)).back()) {
        Builder& b = c.builder();
        ir::Shape shape;
        for (int dim = 0; dim < b.shape(c.input(0)).rank(); ++dim) {
            shape.push_back(dim == 0 ? b.shape(c.input(0))[0] : 1);
        }
        given = c.inputs().size() > weights_at ? c.inputs()[weights_at] : c.real(samples);
        weights = reshape(b, wide(given), shape);
    }

    ValueId wide(ValueId x) const { return cast(c.builder(), x, dtype); }
    /// Weighted elements per channel that are here, as [1].
    ValueId weight_here() const {
        Builder& b = c.builder();
        const ir::Shape& x = b.shape(c.input(0));
        const double points =
            static_cast<double>(x.elements()) / static_cast<double>(x[0] * channels);
        const ValueId flat = reshape(b, weights, {x[0]});
        return affine(b, reduce_sum(b, flat, {0}, true), points);
    }
    /// The rows of all devices added up, each of its own length.
    ValueIds sums(const ValueIds& rows) const {
        Builder& b = c.builder();
        const ValueId joined =
            c.all_reduce(b.emit("concat", rows, {{"dim", std::int64_t{0}}}), samples, Combine::sum);
        ValueIds out;
        std::int64_t start = 0;
        for (const ValueId row : rows) {
            const std::int64_t size = b.shape(row)[0];
            out.push_back(slice(b, joined, {start}, {size}));
            start += size;
        }
        return out;
    }
    ValueId positive(ValueId total) const { // 1 where nothing is real
        Builder& b = c.builder();
        const ValueId zero = constant(b, 0.0, {}, dtype);
        return select(b, b.emit("less", {zero, total}), total, constant(b, 1.0, {}, dtype));
    }
    ValueId reciprocal_deviation(ValueId variance) const {
        return c.builder().emit("rsqrt",
                                {affine(c.builder(), variance, 1.0, c.attributes().real("eps"))});
    }
};

// Mean and variance of all samples from those of each part (Chan, Golub and LeVeque 1983).
void split_batch_norm(SplitContext& c) {
    if (!c.is_split(factor_of(c.rule().inputs[0], 0))) {
        return c.set_all(c.emit_same());
    }
    Builder& b = c.builder();
    const BatchPart part(c, 3);
    const auto here = c.emit_same({c.input(0), c.input(1), c.input(2), part.given});
    const ValueId weight = part.weight_here();
    const auto first = part.sums({mul(b, here[1], weight), weight});
    const ValueId total = part.positive(first[1]);
    const ValueId mean = div(b, first[0], total);
    const ValueId away = sub(b, here[1], mean);
    const auto second = part.sums({mul(b, add(b, here[2], b.emit("square", {away})), weight)});
    const ValueId variance = div(b, second[0], total);
    const ValueId gain = mul(b, part.wide(c.input(1)), part.reciprocal_deviation(variance));
    const ValueId centred = sub(b, part.wide(c.input(0)), mean);
    const ValueId y = add(b, mul(b, centred, gain), part.wide(c.input(2)));
    c.set(0, cast(b, y, b.type(c.input(0)).dtype));
    c.set(1, mean);
    c.set(2, variance);
}

// As the kernel, with the sums taken over all parts: with u = (x - mean) rstd and w a sample's
// weight over the total, dx = scale rstd (dy - w (sum(dy) + u sum(dy u))).
void split_batch_norm_grad(SplitContext& c) {
    if (!c.is_split(factor_of(c.rule().inputs[0], 0))) {
        return c.set_all(c.emit_same());
    }
    Builder& b = c.builder();
    const BatchPart part(c, 5);
    const ValueId rstd = part.reciprocal_deviation(c.input(3));
    const ValueId u = mul(b, sub(b, part.wide(c.input(0)), c.input(2)), rstd);
    const ValueId dy = part.wide(c.input(4));
    std::vector<std::int64_t> rows;
    for (int dim = 0; dim + 1 < b.shape(u).rank(); ++dim) {
        rows.push_back(dim);
    }
    const auto sums = part.sums(
        {reduce_sum(b, dy, rows), reduce_sum(b, mul(b, dy, u), rows), part.weight_here()});
    const ValueId share = div(b, part.weights, part.positive(sums[2]));
    const ValueId drift = mul(b, share, add(b, sums[0], mul(b, u, sums[1])));
    const ValueId gain = mul(b, part.wide(c.input(1)), rstd);
    c.set(0, cast(b, mul(b, gain, sub(b, dy, drift)), b.type(c.input(0)).dtype));
    c.set(1, sums[1]);
    c.set(2, sums[0]);
}

// --- batch_norm_inference ------------------------------------------------------------------------

Inferred infer_batch_norm_inference(const OpView& view) {
    const std::string wrong =
        want_features(view, {{"scale", 1}, {"shift", 2}, {"mean", 3}, {"variance", 4}});
    return wrong.empty() ? Inferred{{view.input(0)}, {}} : fail(wrong);
}

FactorRule batch_norm_inference_factors(const OpView& view) {
    return einsum(view, "...c,c,c,c,c->...c");
}

} // namespace

const OpDef kBatchNorm{
    .name = "batch_norm",
    .help = "x [N, ..., C], scale [C], shift [C], weights [N]? -> y, mean [C], variance [C]",
    .min_inputs = 3,
    .max_inputs = 4,
    .attributes = {kBatchEps},
    .infer = infer_batch_norm,
    .gradient = batch_norm_gradient,
    .factors = batch_norm_factors,
    .cost = norm_cost,
    .split = split_batch_norm,
    .full_inputs = {1, 2, 3},
    .full_outputs = {1, 2}};

const OpDef kBatchNormGrad{
    .name = "batch_norm_grad",
    .help = "x, scale, mean, variance, dy, weights? -> dx, dscale [C], dshift [C]",
    .min_inputs = 5,
    .max_inputs = 6,
    .attributes = {kBatchEps},
    .infer = infer_batch_norm_grad,
    .factors = batch_norm_grad_factors,
    .cost = norm_cost,
    .split = split_batch_norm_grad,
    .full_inputs = {1, 2, 3, 5},
    .full_outputs = {1, 2}};

const OpDef kBatchNormInference{.name = "batch_norm_inference",
                                .help =
                                    "x [..., C], scale [C], shift [C], mean [C], variance [C] -> y",
                                .min_inputs = 5,
                                .max_inputs = 5,
                                .attributes = {kBatchEps},
                                .infer = infer_batch_norm_inference,
                                .factors = batch_norm_inference_factors,
                                .cost = norm_cost,
                                .full_inputs = {1, 2, 3, 4}};

} // namespace weft::ops
