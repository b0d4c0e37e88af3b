// SPDX-License-Identifier: Apache-2.0
// Classification loss and score. Losses are f32 per sample; the mean over samples is the caller's.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"
#include "core/ops/split.h"

#include <array>

namespace weft::ops {
namespace {

constexpr AttributeDef kSmoothing{"label_smoothing", AttributeKind::real, false,
                                  "weight of the uniform distribution in the target, 0 to 1"};
constexpr AttributeDef kOfClasses{
    "of_classes", AttributeKind::integer, false,
    "logits are a part of so many classes; a label of V or more is a class elsewhere"};
// logits [..., V] and labels i32 [...]; empty: fine.
std::string want_logits(const OpView& view) {
    const ir::Type& logits = view.input(0);
    const ir::Type& labels = view.input(1);
    const std::string wrong =
        first_of({want_float("logits", logits), want_integer("labels", labels)});
    if (!wrong.empty()) {
        return wrong;
    }
    if (logits.shape.rank() < 1 || logits.shape.back() < 1) {
        return "logits need at least one class, but are " + word(logits);
    }
    return want_shape("labels", labels, leading(logits.shape));
}

Inferred infer_cross_entropy(const OpView& view) {
    if (const std::string wrong = want_logits(view); !wrong.empty()) {
        return fail(wrong);
    }
    const ir::Type per_sample{statistics_dtype(view.input(0).dtype), leading(view.input(0).shape)};
    return {{per_sample, per_sample}, {}};
}

// What arrives at the logsumexp goes on by the softmax of the logits.
ir::ValueId logsumexp_gradient(GradientContext& c) {
    Builder& b = c.builder();
    const ir::DType dtype = b.type(c.output(1)).dtype;
    const ir::Shape column = with_last(b.shape(c.output(1)), 1);
    const ir::ValueId logits = cast(b, c.input(0), dtype);
    const ir::ValueId share = b.emit("exp", {sub(b, logits, reshape(b, c.output(1), column))});
    return cast(b, mul(b, share, reshape(b, c.upstream(1), column)), b.type(c.input(0)).dtype);
}

void cross_entropy_gradient(GradientContext& c) {
    ir::ValueId out;
    if (c.upstream(0).valid()) {
        out = c.builder().emit("cross_entropy_grad",
                               {c.input(0), c.input(1), c.output(1), c.upstream(0)},
                               c.op().attributes);
    }
    if (c.upstream(1).valid()) {
        const ir::ValueId other = logsumexp_gradient(c);
        out = out.valid() ? add(c.builder(), out, other) : other;
    }
    c.set(0, out);
}

// A class that is never likely changes nothing; what smoothing makes of it is up to split_*.
// Finite, because kernels may multiply it by a smoothing of 0.
constexpr double kNever = -1e30;

FactorRule cross_entropy_factors(const OpView& view) {
    return einsum(view, "...v,...->...,...", {{'v', Combine::custom, kNever}});
}

/// Labels counted from the first class that is here; V for a class elsewhere, below 0 as they were.
ir::ValueId local_labels(SplitContext& c, int classes) {
    Builder& b = c.builder();
    const ir::ValueId labels = cast(b, c.input(1), ir::DType::f32);
    const ir::ValueId first =
        cast(b, c.origin(std::array{classes}, std::array{std::int64_t{0}}), ir::DType::f32);
    const ir::ValueId zero = constant(b, 0.0);
    const ir::ValueId count = constant(b, static_cast<double>(c.local_size(classes)));
    const ir::ValueId moved =
        sub(b, labels, b.shape(labels).rank() == 0 ? reshape(b, first, {}) : first);
    const ir::ValueId here =
        mul(b, affine(b, b.emit("less", {moved, zero}), -1.0, 1.0), b.emit("less", {moved, count}));
    const ir::ValueId ignored = b.emit("less", {labels, zero});
    return cast(b, select(b, ignored, labels, select(b, here, moved, count)), ir::DType::i32);
}

ir::Attributes of_classes(const SplitContext& c) {
    ir::Attributes attributes = c.attributes();
    attributes.set("of_classes", c.whole().input(0).shape.back());
    return attributes;
}

/// Sums of the devices that split the classes, in one exchange.
std::pair<ir::ValueId, ir::ValueId> sum_both(SplitContext& c, int classes, ir::ValueId x,
                                             ir::ValueId y) {
    Builder& b = c.builder();
    const ir::Shape shape = b.shape(x);
    const std::int64_t count = shape.elements();
    const ir::ValueId both = b.emit("concat", {reshape(b, x, {count}), reshape(b, y, {count})},
                                    {{"dim", std::int64_t{0}}});
    const ir::ValueId sums = c.all_reduce(both, classes, Combine::sum);
    return {reshape(b, slice(b, sums, {0}, {count}), shape),
            reshape(b, slice(b, sums, {count}, {count}), shape)};
}

// Vocabulary-parallel loss (Shoeybi et al. 2019, section 3): the local op gives what the label's
// logit and smoothing take off the loss, and the logsumexp of the classes that are here.
void split_cross_entropy(SplitContext& c) {
    const int classes = c.rule().inputs[0].back().front();
    if (!c.is_split(classes)) {
        return c.set_all(c.emit_same());
    }
    Builder& b = c.builder();
    const auto local =
        b.emit_all(c.whole().op.kind, {c.input(0), local_labels(c, classes)}, of_classes(c));
    const ir::ValueId most = c.all_reduce(local[1], classes, Combine::max);
    const auto [total, taken] =
        sum_both(c, classes, b.emit("exp", {sub(b, local[1], most)}), local[0]);
    const ir::ValueId logsumexp = add(b, most, b.emit("log", {total}));
    const ir::ValueId zero = constant(b, 0.0, {}, b.type(logsumexp).dtype);
    const ir::ValueId ignored =
        b.emit("less", {cast(b, c.input(1), ir::DType::f32), constant(b, 0.0)});
    c.set(0, select(b, ignored, zero, sub(b, logsumexp, taken)));
    c.set(1, logsumexp);
}

void split_cross_entropy_grad(SplitContext& c) {
    const int classes = c.rule().inputs[0].back().front();
    if (!c.is_split(classes)) {
        return c.set_all(c.emit_same());
    }
    c.set(0, c.builder().emit(c.whole().op.kind,
                              {c.input(0), local_labels(c, classes), c.input(2), c.input(3)},
                              of_classes(c)));
}

Inferred infer_cross_entropy_grad(const OpView& view) {
    std::string wrong = want_logits(view);
    if (wrong.empty()) {
        const ir::Shape samples = leading(view.input(0).shape);
        wrong = first_of({want_shape("logsumexp", view.input(2), samples),
                          want_shape("dloss", view.input(3), samples)});
    }
    return wrong.empty() ? Inferred{{view.input(0)}, {}} : fail(wrong);
}

FactorRule cross_entropy_grad_factors(const OpView& view) {
    return einsum(view, "...v,...,...,...->...v", {{'v', Combine::custom, kNever}});
}

Inferred infer_correct(const OpView& view) {
    if (const std::string wrong = want_logits(view); !wrong.empty()) {
        return fail(wrong);
    }
    return {{{statistics_dtype(view.input(0).dtype), leading(view.input(0).shape)}}, {}};
}

FactorRule correct_factors(const OpView& view) {
    return einsum(view, "...v,...->...", {{'v', Combine::custom, kNever}});
}

// The first maximum of all parts: each part that has the largest logit offers its first index.
void split_correct(SplitContext& c) {
    const int classes = c.rule().inputs[0].back().front();
    if (!c.is_split(classes)) {
        return c.set_all(c.emit_same());
    }
    Builder& b = c.builder();
    const ir::DType dtype = c.output_type(0).dtype;
    const ir::ValueId logits = cast(b, c.input(0), dtype);
    const auto last = static_cast<std::int64_t>(b.shape(logits).rank()) - 1;
    const ir::ValueId most_here = b.emit(
        "reduce_max", {logits}, {{"dims", std::vector<std::int64_t>{last}}, {"keep", false}});
    const ir::ValueId most = c.all_reduce(most_here, classes, Combine::max);
    const ir::ValueId first =
        cast(b, c.origin(std::array{classes}, std::array{std::int64_t{0}}), ir::DType::f32);
    const ir::ValueId found = cast(b, b.emit("argmax", {logits}), ir::DType::f32);
    const ir::ValueId index =
        add(b, found, b.shape(found).rank() == 0 ? reshape(b, first, {}) : first);
    const ir::ValueId none = constant(b, kNever);
    const ir::ValueId offered =
        select(b, b.emit("less", {most_here, most}), none, affine(b, index, -1.0));
    const ir::ValueId best = affine(b, c.all_reduce(offered, classes, Combine::max), -1.0);
    const ir::ValueId correct = b.emit("equal", {best, cast(b, c.input(1), ir::DType::f32)});
    c.set(0, cast(b, correct, dtype));
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
    .help =
        "logits [..., V], labels i32 [...] -> loss [...], logsumexp [...]; a label < 0 is ignored",
    .min_inputs = 2,
    .max_inputs = 2,
    .attributes = {kSmoothing, kOfClasses},
    .infer = infer_cross_entropy,
    .gradient = cross_entropy_gradient,
    .factors = cross_entropy_factors,
    .cost = cross_entropy_cost,
    .split = split_cross_entropy,
    .full_outputs = {0, 1}};

const OpDef kCrossEntropyGrad{.name = "cross_entropy_grad",
                              .help = "logits, labels, logsumexp, dloss [...] -> dlogits",
                              .min_inputs = 4,
                              .max_inputs = 4,
                              .attributes = {kSmoothing, kOfClasses},
                              .infer = infer_cross_entropy_grad,
                              .factors = cross_entropy_grad_factors,
                              .cost = cross_entropy_cost,
                              .split = split_cross_entropy_grad,
                              .aliases = {{0, 0}},
                              .full_inputs = {2, 3}};

const OpDef kCorrect{.name = "correct",
                     .help = "logits, labels -> 1.0 [...] where the first maximum is the label",
                     .min_inputs = 2,
                     .max_inputs = 2,
                     .infer = infer_correct,
                     .factors = correct_factors,
                     .cost = correct_cost,
                     .split = split_correct,
                     .full_outputs = {0}};

} // namespace weft::ops
