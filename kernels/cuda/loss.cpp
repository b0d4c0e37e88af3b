// SPDX-License-Identifier: Apache-2.0
// Cross-entropy: each row of logits is read where it lies, once forward and once backward; no
// probability and no logit in f32 is ever stored. What the outputs of a part of the classes are,
// and label smoothing, is said in kernels/reference/loss.cpp.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/largest_of_row.h"
#include "kernels/cuda/row_launch.h"

namespace weft::kernels::cuda {

struct LossOptions {
    float smoothing;
    float classes; // of the whole
    int part;      // some of the classes
};

WEFT_WIDE_KERNEL cross_entropy_rows(const RowShape s, const LossOptions o, const Source logits,
                                    const int* labels, float* loss, float* logsumexps,
                                    volatile int* faults) {
    WEFT_SHARED(float, totals, kWarp);
    const RowPlace p = row_place(s);
    if (p.row >= s.rows) { // a whole warp: no barrier is missed
        return;
    }
    const i64 start = p.row * s.width;
    float values[kRowTile];
    const float max = largest_of_row(s, p, logits, values, totals);
    float sum = 0.0f;
    float real = 0.0f;
    WEFT_ROLLED
    for (i64 tile = 0; tile < p.tiles; ++tile) {
        if (reads(p, 1)) {
            load_tile(s, p, logits, start, tile, -INFINITY, values);
        }
        WEFT_UNROLL
        for (int k = 0; k < kRowTile; ++k) {
            if (column_of(p, tile, k) < s.width) {
                sum += expf(values[k] - max);
                real += values[k] > -1e29f ? values[k] : 0.0f;
            }
        }
    }
    const float logsumexp = max + logf(row_sum(p, sum, totals));
    const float mean = row_sum(p, real, totals) / o.classes;
    if (p.lane == 0) {
        const int label = labels[p.row];
        if (label >= s.width && o.part == 0) {
            report_fault(faults, kLabelTooLarge);
        }
        const float logit = label >= 0 && label < s.width ? load(logits, start + label) : 0.0f;
        const float taken = (1.0f - o.smoothing) * logit + o.smoothing * mean;
        loss[p.row] = label < 0 ? 0.0f : o.part != 0 ? taken : logsumexp - taken;
        logsumexps[p.row] = logsumexp;
    }
}

WEFT_WIDE_KERNEL cross_entropy_grad_rows(const RowShape s, const LossOptions o, const Source logits,
                                         const int* labels, const float* logsumexps,
                                         const float* dloss, const Target dlogits,
                                         volatile int* faults) {
    const RowPlace p = row_place(s);
    if (p.row >= s.rows) {
        return;
    }
    const int label = labels[p.row];
    if (p.lane == 0 && label >= s.width && o.part == 0) {
        report_fault(faults, kLabelOfGradientTooLarge);
    }
    const i64 start = p.row * s.width;
    const float logsumexp = logsumexps[p.row];
    const float factor = label < 0 ? 0.0f : dloss[p.row];
    const float everywhere = o.smoothing / o.classes;
    WEFT_ROLLED
    for (i64 tile = 0; tile < p.tiles; ++tile) {
        float values[kRowTile];
        load_tile(s, p, logits, start, tile, 0.0f, values);
        WEFT_UNROLL
        for (int k = 0; k < kRowTile; ++k) {
            const float target =
                everywhere + (column_of(p, tile, k) == label ? 1.0f - o.smoothing : 0.0f);
            values[k] = label < 0 ? 0.0f : factor * (expf(values[k] - logsumexp) - target);
        }
        store_tile(s, p, dlogits, start, tile, values);
    }
}

WEFT_KERNEL correct_rows(i64 rows, const int* best, const int* labels, float* out) {
    for (i64 r = block() * threads() + thread(); r < rows; r += blocks() * threads()) {
        out[r] = best[r] == labels[r] ? 1.0f : 0.0f;
    }
}

namespace {

struct LossOp {
    i64 rows, classes;
    LossOptions options;
    int logits;

    explicit LossOp(const Op& op)
        : rows(row_count(op.input(0))), classes(last_dim(op.input(0))), options{},
          logits(float_dtype(op.input(0))) {
        require(op.input(0).rank >= 1 && classes > 0, "the logits are not [N, V]");
        require(element_count(op.input(1)) == rows, "the labels are not [N]");
        want_dtype(op.input(1), WEFT_I32);
        const bool part = op.has("of_classes");
        options = {static_cast<float>(op.real("label_smoothing", 0.0)),
                   static_cast<float>(part ? op.integer("of_classes") : classes), part ? 1 : 0};
    }
    void want_rows(const Type& type) const {
        require(element_count(type) == rows, "what belongs to rows is not [N]");
        want_dtype(type, WEFT_F32);
    }
};

} // namespace

Made make_cross_entropy(const Op& op) { // logits, labels -> loss, logsumexp
    const LossOp l(op);
    l.want_rows(op.output(0));
    l.want_rows(op.output(1));
    return launches([=, faults = fault_word()](const Run& run) {
        const RowShape s = row_shape(l.rows, l.classes, {run.in(0)});
        run.launch(row_grid(s), cross_entropy_rows, s, l.options, Source{run.in(0), l.logits},
                   static_cast<const int*>(run.in(1)), static_cast<float*>(run.out(0)),
                   static_cast<float*>(run.out(1)), faults);
    });
}

Made make_cross_entropy_grad(const Op& op) { // logits, labels, logsumexp, dloss -> dlogits
    const LossOp l(op);
    l.want_rows(op.input(2));
    l.want_rows(op.input(3));
    require(same_shape(op.input(0), op.output(0)), "logits and their gradient differ in shape");
    const int out = float_dtype(op.output(0));
    return launches([=, faults = fault_word()](const Run& run) {
        const RowShape s = row_shape(l.rows, l.classes, {run.in(0), run.out(0)});
        run.launch(row_grid(s), cross_entropy_grad_rows, s, l.options, Source{run.in(0), l.logits},
                   static_cast<const int*>(run.in(1)), static_cast<const float*>(run.in(2)),
                   static_cast<const float*>(run.in(3)), Target{run.out(0), out}, faults);
    });
}

Made make_correct(const Op& op) { // logits, labels -> 1.0 where the first maximum is the label
    const LossOp l(op);
    l.want_rows(op.output(0));
    return launches(l.rows * 4, [=](const Run& run) {
        const RowShape s = row_shape(l.rows, l.classes, {});
        int* best = run.workspace<int>();
        run.launch(row_grid(s), argmax_rows, s, Source{run.in(0), l.logits}, best);
        run.launch(grid_over(l.rows), correct_rows, l.rows, static_cast<const int*>(best),
                   static_cast<const int*>(run.in(1)), static_cast<float*>(run.out(0)));
    });
}

} // namespace weft::kernels::cuda
