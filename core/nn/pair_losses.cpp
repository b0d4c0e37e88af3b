// SPDX-License-Identifier: Apache-2.0
// Losses of points: outputs of a sample that say nothing by themselves, but should lie near those
// of samples with the same label and far from others. A microbatch is compared with itself, in the
// precision of its products. And the metric of such points: who is nearest.
#include "core/nn/functions.h"
#include "core/nn/loss_def.h"

namespace weft::nn {
namespace {

using config::Json;

constexpr double kFar = 1e30;          // a distance, or what is as far below any similarity
constexpr double kLeastSquare = 1e-12; // of a distance: its root has a slope

config::Field dimensions_field() {
    return config::integer_field("dimensions", 64,
                                 "Numbers of a sample's point, which the model puts out.")
        .range(1, 1 << 16);
}

std::int64_t dimensions_of(const Json& settings) {
    return settings.at("dimensions").get<std::int64_t>();
}

ir::ValueId point_itself(ops::Builder&, const Json&, ir::ValueId output) {
    return output;
}

/// f32[n,n]: 1 on the diagonal. A row of 1 and n zeros, n times, is that of n + 1 columns.
ir::ValueId diagonal(ops::Builder& b, std::int64_t n) {
    const ir::ValueId rows = b.emit("pad", {ops::constant(b, 1.0, {n, 1})},
                                    {{"low", std::vector<std::int64_t>{0, 0}},
                                     {"high", std::vector<std::int64_t>{0, n}},
                                     {"value", 0.0}});
    const ir::ValueId flat = ops::reshape(b, rows, {n * (n + 1)});
    return ops::reshape(b, ops::slice(b, flat, {0}, {n * n}), {n, n});
}

ir::ValueId times_each_other(ops::Builder& b, ir::ValueId x) {
    return ops::cast(b, ops::matmul(b, x, x, false, true), ir::DType::f32);
}

/// f32[B,B], 0 or 1: row i has the others of its label, and those of other labels. Samples whose
/// label is ignored are nobody's.
struct Pairs {
    ir::ValueId same, other, self;
};

Pairs pairs_of(ops::Builder& b, ir::ValueId labels) {
    const std::int64_t n = b.shape(labels)[0];
    const ir::ValueId label = ops::cast(b, labels, ir::DType::f32);
    const ir::ValueId counted = counted_targets(b, labels);
    const ir::ValueId both = ops::mul(b, as_column(b, counted), ops::reshape(b, counted, {1, n}));
    const ir::ValueId alike =
        ops::mul(b, both, b.emit("equal", {as_column(b, label), ops::reshape(b, label, {1, n})}));
    const ir::ValueId self = diagonal(b, n);
    return {ops::mul(b, alike, ops::affine(b, self, -1.0, 1.0)), ops::sub(b, both, alike), self};
}

/// x / max(|x|, 1e-6) over the last dimension.
ir::ValueId of_length_1(ops::Builder& b, ir::ValueId x) {
    const ir::ValueId squares = as_column(b, sum_last(b, b.emit("square", {x})));
    return ops::mul(
        b, x, b.emit("rsqrt", {b.emit("maximum", {squares, ops::constant(b, kLeastSquare)})}));
}

ir::ValueId points_of(ops::Builder& b, const Prediction& p, bool unit_length) {
    const ir::ValueId x = ops::cast(b, p.output, ir::DType::f32);
    return unit_length ? of_length_1(b, x) : x;
}

/// f32[B,B]
ir::ValueId distances(ops::Builder& b, ir::ValueId x) {
    const std::int64_t n = b.shape(x)[0];
    const ir::ValueId squares = sum_last(b, b.emit("square", {x}));
    const ir::ValueId sums = ops::add(b, as_column(b, squares), ops::reshape(b, squares, {1, n}));
    const ir::ValueId apart = ops::sub(b, sums, ops::affine(b, times_each_other(b, x), 2.0));
    return b.emit("sqrt", {b.emit("maximum", {apart, ops::constant(b, kLeastSquare)})});
}

ir::ValueId most(ops::Builder& b, ir::ValueId x) {
    return b.emit("reduce_max", {x},
                  {{"dims", std::vector<std::int64_t>{b.shape(x).rank() - 1}}, {"keep", false}});
}

/// 1 in rows where `pairs` has any.
ir::ValueId any(ops::Builder& b, ir::ValueId pairs) {
    return most(b, pairs);
}

config::FieldTable triplet_fields() {
    return {dimensions_field(),
            config::real_field("margin", 0.2,
                               "How much farther than any sample of its label those of others "
                               "should be.")
                .above(0.0),
            config::boolean_field("unit_length", true, "Points are moved to length 1.")};
}

/// max(0, farthest of its label - nearest of others + margin); 0 of samples that lack either.
ir::ValueId build_triplet(ops::Builder& b, const Json& settings, const Prediction& p) {
    const Pairs pairs = pairs_of(b, p.target);
    const ir::ValueId apart = distances(b, points_of(b, p, settings.at("unit_length").get<bool>()));
    const ir::ValueId farthest = most(b, ops::mul(b, apart, pairs.same));
    const ir::ValueId near =
        ops::select(b, pairs.other, ops::affine(b, apart, -1.0), ops::constant(b, -kFar, {1, 1}));
    const ir::ValueId behind = ops::affine(b, ops::add(b, farthest, most(b, near)), 1.0,
                                           settings.at("margin").get<double>());
    const ir::ValueId loss = b.emit("maximum", {behind, ops::constant(b, 0.0)});
    return ops::mul(b, loss, ops::mul(b, any(b, pairs.same), any(b, pairs.other)));
}

config::FieldTable nt_xent_fields() {
    return {dimensions_field(),
            config::real_field("temperature", 0.1,
                               "Divides cosines; the smaller, the more the nearest ones count.")
                .range(0.001, 100.0)};
}

/// Mean over the others p of its label of -log(exp(s_ip) / sum_a exp(s_ia)), a any other sample, s
/// the cosine by the temperature; 0 of samples that are alone with their label.
ir::ValueId build_nt_xent(ops::Builder& b, const Json& settings, const Prediction& p) {
    const Pairs pairs = pairs_of(b, p.target);
    const ir::ValueId x = points_of(b, p, true);
    const ir::ValueId cosines =
        ops::affine(b, times_each_other(b, x), 1.0 / settings.at("temperature").get<double>());
    const ir::ValueId compared = ops::add(b, pairs.same, pairs.other);
    const ir::ValueId shares =
        log_softmax(b, ops::select(b, compared, cosines, ops::constant(b, -kFar, {1, 1})));
    const ir::ValueId positives = sum_last(b, pairs.same);
    const ir::ValueId sum =
        sum_last(b, ops::select(b, pairs.same, shares, ops::constant(b, 0.0, {1, 1})));
    return ops::affine(b, ops::div(b, sum, b.emit("maximum", {positives, ops::constant(b, 1.0)})),
                       -1.0);
}

ir::ValueId point_and_label(ops::Builder& b, const Prediction& p) {
    const ir::ValueId label = as_column(b, ops::cast(b, p.target, ir::DType::f32));
    return b.emit("concat", {ops::cast(b, p.output, ir::DType::f32), label},
                  {{"dim", std::int64_t{1}}});
}

} // namespace

// Schroff et al. 2015, of the hardest triplets of a batch (Hermans et al. 2017)
const LossDef kTripletLoss = {
    .name = "triplet",
    .help = "Of points: how much farther the farthest of a sample's label is than the nearest of "
            "another one.",
    .fields = triplet_fields,
    .needs_classes = true,
    .build = build_triplet,
    .expected = point_itself,
    .point = dimensions_of};

// Chen et al. 2020 with labels in place of two views (Khosla et al. 2020, equation 2); with as
// many labels as pairs it is theirs.
const LossDef kNtXentLoss = {
    .name = "nt_xent",
    .help = "Of points: cross-entropy of finding the other samples of a label among all of a "
            "microbatch, by cosine.",
    .fields = nt_xent_fields,
    .needs_classes = true,
    .build = build_nt_xent,
    .expected = point_itself,
    .point = dimensions_of};

const MetricDef kNearestAccuracyMetric = {
    .name = "nearest_accuracy",
    .help = "Share of points whose nearest one, by cosine, has the same label (recall at 1).",
    .needs_classes = true,
    .higher_is_better = true,
    .reduction = "mean",
    .build = nullptr,
    .row = point_and_label,
    .score = score_nearest,
    .row_of_all_values = true,
    .of_points = true};

} // namespace weft::nn
