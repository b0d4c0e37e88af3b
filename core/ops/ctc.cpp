// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification (Graves et al. 2006): the likelihood of a sequence of
// symbols whose places among the positions nobody knows.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

// log-probabilities [B, T, C] and labels i32 [B, S]; empty: fine.
std::string want_sequences(const OpView& view) {
    const ir::Type& x = view.input(0);
    const ir::Type& labels = view.input(1);
    const std::string wrong = first_of({want_float("log_p", x), want_integer("labels", labels)});
    if (!wrong.empty()) {
        return wrong;
    }
    if (x.shape.rank() != 3 || x.shape[1] < 1 || x.shape[2] < 1) {
        return "log_p are [B, T, C] with positions and classes, but are " + word(x);
    }
    if (labels.shape.rank() != 2 || labels.shape[0] != x.shape[0]) {
        return "labels are [B, S] of the same samples, but are " + word(labels);
    }
    return {};
}

ir::Type losses_of(const OpView& view) {
    return {statistics_dtype(view.input(0).dtype), {view.input(0).shape[0]}};
}

ir::Type alpha_of(const OpView& view) {
    const ir::Shape& x = view.input(0).shape;
    return {statistics_dtype(view.input(0).dtype), {x[0], x[1], 2 * view.input(1).shape[1] + 1}};
}

Inferred infer_ctc(const OpView& view) {
    if (const std::string wrong = want_sequences(view); !wrong.empty()) {
        return fail(wrong);
    }
    return {{losses_of(view), alpha_of(view)}, {}};
}

Inferred infer_ctc_grad(const OpView& view) {
    std::string wrong = want_sequences(view);
    if (wrong.empty()) {
        wrong = first_of({want_shape("loss", view.input(2), losses_of(view).shape),
                          want_shape("alpha", view.input(3), alpha_of(view).shape),
                          want_shape("dloss", view.input(4), losses_of(view).shape)});
    }
    return wrong.empty() ? Inferred{{view.input(0)}, {}} : fail(wrong);
}

void ctc_gradient(GradientContext& c) {
    c.set(0, c.builder().emit("ctc_grad",
                              {c.input(0), c.input(1), c.output(0), c.output(1), c.upstream(0)}));
}

// Samples are independent; a path needs all positions, states and classes.
FactorRule factors_of(const OpView& view, std::string_view notation) {
    return einsum(view, notation,
                  {{'t', Combine::whole},
                   {'c', Combine::whole},
                   {'s', Combine::whole},
                   {'z', Combine::whole}});
}

FactorRule ctc_factors(const OpView& view) {
    return factors_of(view, "btc,bs->b,btz");
}

FactorRule ctc_grad_factors(const OpView& view) {
    return factors_of(view, "btc,bs,b,btz,b->btc");
}

// Three exponentials and a logarithm per state and position.
OpCost ctc_cost(const OpView& view) {
    return cost(view, 4 * kExpFlops * static_cast<double>(alpha_of(view).shape.elements()));
}

} // namespace

const OpDef kCtc{.name = "ctc",
                 .help = "log_p [B, T, C], labels i32 [B, S] -> loss [B], alpha [B, T, 2 S + 1]; "
                         "class 0 is the blank, labels end at the first below 1",
                 .min_inputs = 2,
                 .max_inputs = 2,
                 .infer = infer_ctc,
                 .gradient = ctc_gradient,
                 .factors = ctc_factors,
                 .cost = ctc_cost,
                 .full_outputs = {0, 1}};

const OpDef kCtcGrad{.name = "ctc_grad",
                     .help = "log_p, labels, loss, alpha, dloss [B] -> dlog_p",
                     .min_inputs = 5,
                     .max_inputs = 5,
                     .infer = infer_ctc_grad,
                     .factors = ctc_grad_factors,
                     .cost = ctc_cost,
                     .full_inputs = {2, 3, 4}};

} // namespace weft::ops
