// SPDX-License-Identifier: Apache-2.0
#include "core/nn/functions.h"

#include "core/nn/loss_def.h"

namespace weft::nn {
namespace {

std::vector<std::int64_t> last_dim(ops::Builder& b, ir::ValueId x) {
    return {b.shape(x).rank() - 1};
}

} // namespace

// x / 2 + |x| / 2 is max(x, 0), with half the slope at 0 that a maximum lacks there.
ir::ValueId softplus(ops::Builder& b, ir::ValueId x) {
    const ir::ValueId size = b.emit("abs", {x});
    const ir::ValueId positive = ops::affine(b, ops::add(b, x, size), 0.5);
    const ir::ValueId small = b.emit("exp", {ops::affine(b, size, -1.0)});
    return ops::add(b, positive, b.emit("log", {ops::affine(b, small, 1.0, 1.0)}));
}

ir::ValueId log_softmax(ops::Builder& b, ir::ValueId x) {
    const std::vector<std::int64_t> last = last_dim(b, x);
    const ir::ValueId most = b.emit("reduce_max", {x}, {{"dims", last}, {"keep", true}});
    const ir::ValueId below = ops::sub(b, x, most);
    const ir::ValueId sum = ops::reduce_sum(b, b.emit("exp", {below}), last, true);
    return ops::sub(b, below, b.emit("log", {sum}));
}

ir::ValueId one_hot(ops::Builder& b, ir::ValueId target, std::int64_t classes) {
    const ir::ValueId label = ops::cast(b, target, ir::DType::f32);
    const ir::ValueId known =
        ops::cast(b, b.emit("maximum", {label, ops::constant(b, 0.0)}), ir::DType::i32);
    return b.emit("top_k_grad", {as_column(b, known), as_column(b, counted_targets(b, target))},
                  {{"extent", classes}});
}

ir::ValueId known_labels(ops::Builder& b, ir::ValueId labels, std::int64_t classes) {
    const ir::ValueId label = ops::cast(b, labels, ir::DType::f32);
    const ir::ValueId of_none = ops::constant(b, static_cast<double>(classes), b.shape(labels));
    const ir::ValueId unknown = b.emit("less", {label, ops::constant(b, 0.0)});
    return ops::cast(b, ops::select(b, unknown, of_none, label), ir::DType::i32);
}

ir::ValueId sum_last(ops::Builder& b, ir::ValueId x) {
    return ops::reduce_sum(b, x, last_dim(b, x));
}

ir::ValueId mean_last(ops::Builder& b, ir::ValueId x) {
    return ops::reduce_mean(b, x, last_dim(b, x));
}

ir::ValueId as_column(ops::Builder& b, ir::ValueId x) {
    ir::Shape shape = b.shape(x);
    shape.push_back(1);
    return ops::reshape(b, x, shape);
}

} // namespace weft::nn
