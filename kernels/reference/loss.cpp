// SPDX-License-Identifier: Apache-2.0
// Cross-entropy with label smoothing e: the target is (1 - e) on the label plus e / V everywhere
// (Szegedy et al. 2016, section 7). A label below 0 is ignored.
#include "kernels/reference/reference_list.h"

#include <algorithm>
#include <cmath>

namespace weft::kernels::reference {
namespace {

struct LossShape {
    std::int64_t rows, classes;
    double smoothing;
};

LossShape loss_shape(const Op& op) {
    const Type& logits = op.input(0);
    require(logits.rank >= 1 && last_dim(logits) > 0, "the logits are not [N, V]");
    require(element_count(op.input(1)) == row_count(logits), "the labels are not [N]");
    return {row_count(logits), last_dim(logits), op.real("label_smoothing", 0.0)};
}

} // namespace

Body make_cross_entropy(const Op& op) { // logits, labels -> loss, logsumexp
    const LossShape s = loss_shape(op);
    require(element_count(op.output(0)) == s.rows && element_count(op.output(1)) == s.rows,
            "loss or logsumexp is not [N]");
    return [=](const Call& call) {
        for (std::int64_t r = 0; r < s.rows; ++r) {
            const double* x = call.in(0) + r * s.classes;
            const auto label = static_cast<std::int64_t>(call.in(1)[r]);
            if (label >= s.classes) {
                return fail(WEFT_BAD_ARGUMENT, "cross_entropy: a label is not below the classes");
            }
            const double max = *std::max_element(x, x + s.classes);
            double sum = 0.0;
            double mean = 0.0;
            for (std::int64_t v = 0; v < s.classes; ++v) {
                sum += std::exp(x[v] - max);
                mean += x[v] / static_cast<double>(s.classes);
            }
            const double logsumexp = max + std::log(sum);
            call.out(0)[r] =
                label < 0 ? 0.0 : logsumexp - (1.0 - s.smoothing) * x[label] - s.smoothing * mean;
            call.out(1)[r] = logsumexp;
        }
        return WEFT_OK;
    };
}

Body make_cross_entropy_grad(const Op& op) { // logits, labels, logsumexp, dloss -> dlogits
    const LossShape s = loss_shape(op);
    require(element_count(op.input(2)) == s.rows && element_count(op.input(3)) == s.rows,
            "logsumexp or dloss is not [N]");
    require(same_shape(op.input(0), op.output(0)), "logits and their gradient differ in shape");
    return [=](const Call& call) {
        for (std::int64_t r = 0; r < s.rows; ++r) {
            const auto label = static_cast<std::int64_t>(call.in(1)[r]);
            if (label >= s.classes) {
                return fail(WEFT_BAD_ARGUMENT,
                            "cross_entropy_grad: a label is not below the classes");
            }
            for (std::int64_t v = 0; v < s.classes; ++v) {
                const double target = s.smoothing / static_cast<double>(s.classes) +
                                      (v == label ? 1.0 - s.smoothing : 0.0);
                const std::int64_t i = r * s.classes + v;
                call.out(0)[i] =
                    label < 0 ? 0.0
                              : call.in(3)[r] * (std::exp(call.in(0)[i] - call.in(2)[r]) - target);
            }
        }
        return WEFT_OK;
    };
}

Body make_correct(const Op& op) { // logits, labels -> 1.0 where the first maximum is the label
    const LossShape s = loss_shape(op);
    require(element_count(op.output(0)) == s.rows, "the output is not [N]");
    return [=](const Call& call) {
        for (std::int64_t r = 0; r < s.rows; ++r) {
            const double* x = call.in(0) + r * s.classes;
            const auto best = std::max_element(x, x + s.classes) - x;
            call.out(0)[r] = static_cast<double>(best) == call.in(1)[r] ? 1.0 : 0.0;
        }
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
