// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification (Graves et al. 2006, section 4.1), in log space. States of
// a sample are blank, symbol, blank, ..., symbol, blank; alpha[t, s] is the log-probability of all
// paths over positions 0..t that end in state s, the emission at t included; beta[t, s] that of all
// ways on from there, over positions t + 1 .... Class 0 is the blank; the symbols of a sample end
// at the first label below 1.
#include "kernels/reference/reference_list.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft::kernels::reference {
namespace {

constexpr double kNever = -1e30;

struct CtcShape {
    std::int64_t samples, positions, classes, symbols;
    std::int64_t states() const { return 2 * symbols + 1; }
};

CtcShape ctc_shape(const Op& op) {
    const Type& x = op.input(0);
    const Type& labels = op.input(1);
    require(x.rank == 3 && last_dim(x) > 0, "the log-probabilities are not [B, T, C]");
    require(labels.rank == 2 && labels.shape[0] == x.shape[0], "the labels are not [B, S]");
    return {x.shape[0], x.shape[1], x.shape[2], labels.shape[1]};
}

/// One sample.
struct Ctc {
    const CtcShape& shape;
    const double* log_p; // [T, C]
    const double* labels;

    std::int64_t length() const {
        return std::find_if(labels, labels + shape.symbols, [](double x) { return x < 1; }) -
               labels;
    }
    bool fits() const {
        return std::all_of(labels, labels + length(), [&](double label) {
            return label < static_cast<double>(shape.classes);
        });
    }
    std::int64_t states() const { return 2 * length() + 1; }
    std::int64_t class_of(std::int64_t state) const {
        return state % 2 == 0 ? 0 : static_cast<std::int64_t>(labels[state / 2]);
    }
    /// Whether a path may go from the symbol before to this one without a blank.
    bool skips(std::int64_t state) const {
        return state % 2 == 1 && state > 2 && class_of(state) != class_of(state - 2);
    }
    double emission(std::int64_t position, std::int64_t state) const {
        return log_p[position * shape.classes + class_of(state)];
    }
};

double log_sum(std::initializer_list<double> terms) {
    const double most = std::max(terms);
    double sum = 0;
    for (const double term : terms) {
        sum += std::exp(term - most);
    }
    return most + std::log(sum);
}

double at(const double* row, std::int64_t state, std::int64_t states) {
    return state >= 0 && state < states ? row[state] : kNever;
}

/// -> the log-probability of all paths.
double forward(const Ctc& ctc, double* alpha) {
    const std::int64_t states = ctc.states();
    const std::int64_t width = ctc.shape.states();
    std::fill(alpha, alpha + ctc.shape.positions * width, kNever);
    for (std::int64_t s = 0; s < std::min<std::int64_t>(states, 2); ++s) {
        alpha[s] = ctc.emission(0, s);
    }
    for (std::int64_t t = 1; t < ctc.shape.positions; ++t) {
        const double* before = alpha + (t - 1) * width;
        for (std::int64_t s = 0; s < states; ++s) {
            const double sum = log_sum({before[s], at(before, s - 1, states),
                                        ctc.skips(s) ? at(before, s - 2, states) : kNever});
            alpha[t * width + s] = std::max(kNever, sum + ctc.emission(t, s));
        }
    }
    const double* last = alpha + (ctc.shape.positions - 1) * width;
    return log_sum({at(last, states - 1, states), at(last, states - 2, states)});
}

} // namespace

Body make_ctc(const Op& op) { // log-probabilities, labels -> loss, alpha
    const CtcShape shape = ctc_shape(op);
    require(element_count(op.output(0)) == shape.samples, "the loss is not [B]");
    require(element_count(op.output(1)) == shape.samples * shape.positions * shape.states(),
            "alpha is not [B, T, 2 S + 1]");
    return [=](const Call& call) {
        for (std::int64_t b = 0; b < shape.samples; ++b) {
            const Ctc ctc{shape, call.in(0) + b * shape.positions * shape.classes,
                          call.in(1) + b * shape.symbols};
            if (!ctc.fits()) {
                return fail(WEFT_BAD_ARGUMENT, "ctc: a label is not below the classes");
            }
            const double found = forward(ctc, call.out(1) + b * shape.positions * shape.states());
            call.out(0)[b] = found < kNever / 2 ? INFINITY : -found;
        }
        return WEFT_OK;
    };
}

Body make_ctc_grad(const Op& op) { // log-probabilities, labels, loss, alpha, dloss -> d input 0
    const CtcShape shape = ctc_shape(op);
    require(element_count(op.input(2)) == shape.samples &&
                element_count(op.input(4)) == shape.samples,
            "loss or dloss is not [B]");
    require(element_count(op.input(3)) == shape.samples * shape.positions * shape.states(),
            "alpha is not [B, T, 2 S + 1]");
    require(same_shape(op.input(0), op.output(0)), "the gradient has another shape");
    return [=](const Call& call) {
        const std::int64_t width = shape.states();
        std::vector<double> beta(static_cast<std::size_t>(width));
        for (std::int64_t b = 0; b < shape.samples; ++b) {
            const std::int64_t first = b * shape.positions * shape.classes;
            const Ctc ctc{shape, call.in(0) + first, call.in(1) + b * shape.symbols};
            double* out = call.out(0) + first;
            std::fill(out, out + shape.positions * shape.classes, 0.0);
            if (!ctc.fits()) {
                return fail(WEFT_BAD_ARGUMENT, "ctc_grad: a label is not below the classes");
            }
            if (!std::isfinite(call.in(2)[b])) {
                continue;
            }
            const std::int64_t states = ctc.states();
            const double* alpha = call.in(3) + b * shape.positions * width;
            for (std::int64_t t = shape.positions - 1; t >= 0; --t) {
                std::vector<double> after(static_cast<std::size_t>(states));
                for (std::int64_t s = 0; s < states; ++s) {
                    if (t == shape.positions - 1) {
                        after[static_cast<std::size_t>(s)] = s + 2 >= states ? 0.0 : kNever;
                        continue;
                    }
                    const auto onward = [&](std::int64_t to, bool may) {
                        return may && to < states
                                   ? beta[static_cast<std::size_t>(to)] + ctc.emission(t + 1, to)
                                   : kNever;
                    };
                    after[static_cast<std::size_t>(s)] = std::max(
                        kNever, log_sum({onward(s, true), onward(s + 1, true),
                                         onward(s + 2, s + 2 < states && ctc.skips(s + 2))}));
                }
                std::copy(after.begin(), after.end(), beta.begin());
                for (std::int64_t s = 0; s < states; ++s) {
                    const double share = std::exp(
                        alpha[t * width + s] + beta[static_cast<std::size_t>(s)] + call.in(2)[b]);
                    out[t * shape.classes + ctc.class_of(s)] -= call.in(4)[b] * share;
                }
            }
        }
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
