// SPDX-License-Identifier: Apache-2.0
// Classification loss and score. Losses are f32 per sample; the mean over samples is the caller's.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

constexpr AttributeDef kSmoothing{"label_smoothing", AttributeKind::real, false,
                                  "weight of the uniform distribution in the target, 0 to 1"};
// logits [N, V] and labels i32 [N]; empty: fine.
std::string want_logits(const OpView& view) {
    const ir::Type& logits = view.input(0);
    const ir::Type& labels = view.input(1);
    const std::string wrong =
        first_of({want_float("logits", logits), want_rank("logits", logits, 2),
                  want_integer("labels", labels)});
    if (!wrong.empty()) {
        return wrong;
    }
    if (logits.shape[1] < 1) {
        return "logits need at least one class, but are " + word(logits);
    }
    return want_shape("labels", labels, {logits.shape[0]});
}

Inferred infer_cross_entropy(const OpView& view) {
    if (const std::string wrong = want_logits(view); !wrong.empty()) {
        return fail(wrong);
    }
    const ir::Type per_sample{statistics_dtype(view.input(0).dtype), {view.input(0).shape[0]}};
    return {{per_sample, per_sample}, {}};
}

void cross_entropy_gradient(GradientContext& c) {
    only_first_output(c);
    c.set(0,
          c.builder().emit("cross_entropy_grad",
                           {c.input(0), c.input(1), c.output(1), c.upstream()}, c.op().attributes));
}

// A class that is never likely changes nothing, unless smoothing makes every class a target.
// Finite, because kernels may multiply it by a smoothing of 0.
Mark classes(const OpView& view) {
    const bool smooth = view.attributes().real("label_smoothing", 0.0) > 0.0;
    return {'v', Combine::whole, smooth ? 0.0 : -1e30};
}

FactorRule cross_entropy_factors(const OpView& view) {
    return einsum(view, "nv,n->n,n", {classes(view)});
}

Inferred infer_cross_entropy_grad(const OpView& view) {
    std::string wrong = want_logits(view);
    if (wrong.empty()) {
        const ir::Shape samples{view.input(0).shape[0]};
        wrong = first_of({want_shape("logsumexp", view.input(2), samples),
                          want_shape("dloss", view.input(3), samples)});
    }
    return wrong.empty() ? Inferred{{view.input(0)}, {}} : fail(wrong);
}

FactorRule cross_entropy_grad_factors(const OpView& view) {
    return einsum(view, "nv,n,n,n->nv", {classes(view)});
}

Inferred infer_correct(const OpView& view) {
    if (const std::string wrong = want_logits(view); !wrong.empty()) {
        return fail(wrong);
    }
    return {{{statistics_dtype(view.input(0).dtype), {view.input(0).shape[0]}}}, {}};
}

FactorRule correct_factors(const OpView& view) {
    return einsum(view, "nv,n->n", {classes(view)});
}

// One exponential per logit in either direction.
OpCost cross_entropy_cost(const OpView& view) {
    return cost(view, (kExpFlops + 4) * static_cast<double>(view.input(0).shape.elements()));
}

OpCost correct_cost(const OpView& view) {
    return cost(view, static_cast<double>(view.input(0).shape.elements()));
}

} // namespace

const OpDef kCrossEntropy{
    .name = "cross_entropy",
    .help = "logits [N, V], labels i32 [N] -> loss [N], logsumexp [N]; labels < 0 are ignored",
    .min_inputs = 2,
    .max_inputs = 2,
    .attributes = {kSmoothing},
    .infer = infer_cross_entropy,
    .gradient = cross_entropy_gradient,
    .factors = cross_entropy_factors,
    .cost = cross_entropy_cost,
    .full_outputs = {0, 1}};

const OpDef kCrossEntropyGrad{.name = "cross_entropy_grad",
                              .help = "logits, labels, logsumexp, dloss [N] -> dlogits",
                              .min_inputs = 4,
                              .max_inputs = 4,
                              .attributes = {kSmoothing},
                              .infer = infer_cross_entropy_grad,
                              .factors = cross_entropy_grad_factors,
                              .cost = cross_entropy_cost,
                              .full_inputs = {2, 3}};

const OpDef kCorrect{.name = "correct",
                     .help = "logits, labels -> 1.0 [N] where the first maximum is the label",
                     .min_inputs = 2,
                     .max_inputs = 2,
                     .infer = infer_correct,
                     .factors = correct_factors,
                     .cost = correct_cost,
                     .full_outputs = {0}};

} // namespace weft::ops
