// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification; states, alpha and beta are those of
// kernels/reference/ctc.cpp. A block works on one sample, position after position, its threads on
// the states.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/launch.h"

namespace weft::kernels::cuda {

struct CtcShape {
    i64 positions, classes, symbols, width;
};

/// The states of a sample; -1: a label is no class.
WEFT_DEVICE i64 ctc_states(const CtcShape s, const int* labels) {
    i64 length = 0;
    while (length < s.symbols && labels[length] > 0) {
        if (labels[length] >= s.classes) {
            return -1;
        }
        ++length;
    }
    return 2 * length + 1;
}

WEFT_DEVICE i64 ctc_class(const int* labels, i64 state) {
    return state % 2 == 0 ? 0 : labels[state / 2];
}

/// Whether a path may come here from the symbol before, without a blank.
WEFT_DEVICE bool ctc_skips(const int* labels, i64 state) {
    return state % 2 == 1 && state > 2 && labels[state / 2] != labels[state / 2 - 1];
}

constexpr float kCtcNever = -1e30f;

WEFT_DEVICE float ctc_sum(float a, float b, float c) {
    const float ab = a > b ? a : b;
    const float most = ab > c ? ab : c;
    const float sum = most + logf(expf(a - most) + expf(b - most) + expf(c - most));
    return sum > kCtcNever ? sum : kCtcNever;
}

WEFT_KERNEL ctc_alpha(const CtcShape s, const float* log_p, const int* labels, float* losses,
                      float* alphas, volatile int* faults) {
    const i64 b = block();
    const int* own = labels + b * s.symbols;
    const float* x = log_p + b * s.positions * s.classes;
    float* alpha = alphas + b * s.positions * s.width;
    const i64 states = ctc_states(s, own);
    if (states < 0) { // of the whole block
        if (thread() == 0) {
            report_fault(faults, kCtcLabelTooLarge);
            losses[b] = INFINITY;
        }
        return;
    }
    for (i64 t = 0; t < s.positions; ++t) {
        const float* before = alpha + (t - 1) * s.width;
        for (i64 i = thread(); i < s.width; i += threads()) {
            float value = kCtcNever;
            if (i < states && t > 0) {
                value = ctc_sum(before[i], i > 0 ? before[i - 1] : kCtcNever,
                                ctc_skips(own, i) ? before[i - 2] : kCtcNever);
            }
            if (i < states && (t > 0 || i < 2)) {
                const float emission = x[t * s.classes + ctc_class(own, i)];
                value = t > 0 ? value + emission : emission;
            }
            alpha[t * s.width + i] = value > kCtcNever ? value : kCtcNever;
        }
        barrier();
    }
    if (thread() == 0) {
        const float* last = alpha + (s.positions - 1) * s.width;
        const float found =
            ctc_sum(last[states - 1], states > 1 ? last[states - 2] : kCtcNever, kCtcNever);
        losses[b] = found < kCtcNever / 2 ? INFINITY : -found;
    }
}

/// `room`: two rows of `width` for each sample, in turns beta with the emission at its position.
WEFT_KERNEL ctc_beta(const CtcShape s, const float* log_p, const int* labels, const float* losses,
                     const float* alphas, const float* dloss, float* gradient, float* room,
                     float* shares, volatile int* faults) {
    const i64 b = block();
    const int* own = labels + b * s.symbols;
    const float* x = log_p + b * s.positions * s.classes;
    float* out = gradient + b * s.positions * s.classes;
    for (i64 i = thread(); i < s.positions * s.classes; i += threads()) {
        out[i] = 0.0f;
    }
    const i64 states = ctc_states(s, own);
    const float loss = losses[b];
    if (states < 0 || loss == INFINITY) { // of the whole block
        if (states < 0 && thread() == 0) {
            report_fault(faults, kCtcLabelOfGradientTooLarge);
        }
        return;
    }
    barrier();
    float* share = shares + b * s.width;
    for (i64 t = s.positions - 1; t >= 0; --t) {
        const float* after = room + (2 * b + (t + 1) % 2) * s.width;
        float* now = room + (2 * b + t % 2) * s.width;
        for (i64 i = thread(); i < states; i += threads()) {
            float beta = i + 2 >= states ? 0.0f : kCtcNever;
            if (t + 1 < s.positions) {
                beta = ctc_sum(after[i], i + 1 < states ? after[i + 1] : kCtcNever,
                               i + 2 < states && ctc_skips(own, i + 2) ? after[i + 2] : kCtcNever);
            }
            share[i] = expf(alphas[(b * s.positions + t) * s.width + i] + beta + loss);
            now[i] = beta + x[t * s.classes + ctc_class(own, i)];
        }
        barrier();
        // The first state of a class adds up all of it, in order.
        for (i64 i = thread(); i < states; i += threads()) {
            const i64 at = ctc_class(own, i);
            bool first = at != 0 || i == 0;
            for (i64 k = 1; at != 0 && k < i; k += 2) {
                first = first && own[k / 2] != at;
            }
            if (first) {
                float sum = 0.0f;
                for (i64 k = i; k < states; k += 2) {
                    sum += ctc_class(own, k) == at ? share[k] : 0.0f;
                }
                out[t * s.classes + at] = -dloss[b] * sum;
            }
        }
        barrier();
    }
}

namespace {

struct CtcOp {
    i64 samples;
    CtcShape shape;

    explicit CtcOp(const Op& op) : samples(0), shape{} {
        const Type& x = op.input(0);
        const Type& labels = op.input(1);
        require(x.rank == 3 && last_dim(x) > 0, "the log-probabilities are not [B, T, C]");
        require(labels.rank == 2 && labels.shape[0] == x.shape[0], "the labels are not [B, S]");
        want_dtype(x, WEFT_F32);
        want_dtype(labels, WEFT_I32);
        samples = x.shape[0];
        shape = {x.shape[1], x.shape[2], labels.shape[1], 2 * labels.shape[1] + 1};
    }
    void want_losses(const Type& type) const {
        require(element_count(type) == samples, "loss or dloss is not [B]");
        want_dtype(type, WEFT_F32);
    }
    void want_alpha(const Type& type) const {
        require(element_count(type) == samples * shape.positions * shape.width,
                "alpha is not [B, T, 2 S + 1]");
        want_dtype(type, WEFT_F32);
    }
    Grid grid() const { return {samples, 1, 256}; }
};

} // namespace

Made make_ctc(const Op& op) { // log-probabilities, labels -> loss, alpha
    const CtcOp c(op);
    c.want_losses(op.output(0));
    c.want_alpha(op.output(1));
    return launches([=, faults = fault_word()](const Run& run) {
        run.launch(c.grid(), ctc_alpha, c.shape, static_cast<const float*>(run.in(0)),
                   static_cast<const int*>(run.in(1)), static_cast<float*>(run.out(0)),
                   static_cast<float*>(run.out(1)), faults);
    });
}

Made make_ctc_grad(const Op& op) { // log-probabilities, labels, loss, alpha, dloss -> d input 0
    const CtcOp c(op);
    c.want_losses(op.input(2));
    c.want_alpha(op.input(3));
    c.want_losses(op.input(4));
    require(same_shape(op.input(0), op.output(0)), "the gradient has another shape");
    want_dtype(op.output(0), WEFT_F32);
    const i64 row_bytes = c.samples * c.shape.width * 4;
    return launches(3 * row_bytes, [=, faults = fault_word()](const Run& run) {
        run.launch(c.grid(), ctc_beta, c.shape, static_cast<const float*>(run.in(0)),
                   static_cast<const int*>(run.in(1)), static_cast<const float*>(run.in(2)),
                   static_cast<const float*>(run.in(3)), static_cast<const float*>(run.in(4)),
                   static_cast<float*>(run.out(0)), run.workspace<float>(),
                   run.workspace<float>(2 * row_bytes), faults);
    });
}

} // namespace weft::kernels::cuda
