// SPDX-License-Identifier: Apache-2.0
// Softmax over the last dimension.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

Inferred infer_softmax(const OpView& view) {
    const ir::Type& x = view.input(0);
    if (const std::string wrong = want_float("x", x); !wrong.empty()) {
        return fail(wrong);
    }
    if (x.shape.rank() == 0) {
        return fail("x needs a last dimension, but is ", x);
    }
    return {{x}, {}};
}

void softmax_gradient(GradientContext& c) {
    c.set(0, c.builder().emit("softmax_grad", {c.output(0), c.upstream()}));
}

FactorRule softmax_factors(const OpView& view) {
    return einsum(view, "...v->...v",
                  {{'v', Combine::whole, -std::numeric_limits<double>::infinity()}});
}

Inferred infer_softmax_grad(const OpView& view) {
    const ir::Type& y = view.input(0);
    const ir::Type& dy = view.input(1);
    const std::string wrong =
        first_of({want_float("y", y), want_float("dy", dy), want_shape("dy", dy, y.shape)});
    if (!wrong.empty()) {
        return fail(wrong);
    }
    if (y.shape.rank() == 0) {
        return fail("y needs a last dimension, but is ", y);
    }
    return {{y}, {}};
}

FactorRule softmax_grad_factors(const OpView& view) {
    return einsum(view, "...v,...v->...v", {{'v', Combine::whole, 0.0}});
}

// Maximum, exponential, sum, quotient.
OpCost softmax_cost(const OpView& view) {
    return cost(view, (kExpFlops + 4) * static_cast<double>(view.output(0).shape.elements()));
}

OpCost softmax_grad_cost(const OpView& view) {
    return cost(view, 4.0 * static_cast<double>(view.output(0).shape.elements()));
}

} // namespace

const OpDef kSoftmax{.name = "softmax",
                     .help = "softmax over the last dimension",
                     .infer = infer_softmax,
                     .gradient = softmax_gradient,
                     .factors = softmax_factors,
                     .cost = softmax_cost,
                     .aliases = {{0, 0}},
                     .precision = Precision::full};

const OpDef kSoftmaxGrad{.name = "softmax_grad",
                         .help = "dx of softmax from y, dy",
                         .min_inputs = 2,
                         .max_inputs = 2,
                         .infer = infer_softmax_grad,
                         .factors = softmax_grad_factors,
                         .cost = softmax_grad_cost,
                         .precision = Precision::full};

} // namespace weft::ops
