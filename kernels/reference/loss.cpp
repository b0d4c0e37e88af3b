// SPDX-License-Identifier: Apache-2.0
// Cross-entropy with label smoothing e: the target is (1 - e) on the label plus e / V everywhere
// (Szegedy et al. 2016, section 7). A label below 0 is ignored. With `of_classes` the logits are a
// part of so many classes and a label of V or more is elsewhere: the first output then is what label
// and smoothing take off the loss here, and logits of -1e30 are padding.
#include "kernels/reference/reference_list.h"

#include <algorithm>
#include <cmath>

namespace weft::kernels::reference {
namespace {

struct LossShape {
    std::int64_t rows, classes;
    std::int64_t of; // classes of the whole
    bool part;
    double smoothing;

    bool too_large(std::int64_t label) const { return label >= classes && !part; }
};

double counted(double logit) {
    return logit > -1e29 ? logit : 0.0;
}

LossShape loss_shape(const Op& op) {
    const Type& logits = op.input(0);
    require(logits.rank >= 1 && last_dim(logits) > 0, "the logits are not [N, V]");
    require(element_count(op.input(1)) == row_count(logits), "the labels are not [N]");
    const bool part = op.has("of_classes");
    const std::int64_t classes = last_dim(logits);
    return {row_count(logits), classes, part ? op.integer("of_classes") : classes, part,
            op.real("label_smoothing", 0.0)};
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
            if (s.too_large(label)) {
                return fail(WEFT_BAD_ARGUMENT, "cross_entropy: a label is not below the classes");
            }
            const double max = *std::max_element(x, x + s.classes);
            double sum = 0.0;
            double mean = 0.0;
            for (std::int64_t v = 0; v < s.classes; ++v) {
                sum += std::exp(x[v] - max);
                mean += counted(x[v]) / static_cast<double>(s.of);
            }
            const double logsumexp = max + std::log(sum);
            const double logit = label >= 0 && label < s.classes ? x[label] : 0.0;
            const double taken = (1.0 - s.smoothing) * logit + s.smoothing * mean;
            call.out(0)[r] = label < 0 ? 0.0 : s.part ? taken : logsumexp - taken;
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
            if (s.too_large(label)) {
                return fail(WEFT_BAD_ARGUMENT,
                            "cross_entropy_grad: a label is not below the classes");
            }
            for (std::int64_t v = 0; v < s.classes; ++v) {
                const double target = s.smoothing / static_cast<double>(s.of) +
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
