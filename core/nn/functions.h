// SPDX-License-Identifier: Apache-2.0
// Functions that losses are put together from, and that the engine has no op of its own for.
// [..., K] f32 throughout.
#pragma once

#include "core/ops/builder.h"

namespace weft::nn {

/// log(1 + exp(x)) without overflow; its slope is sigmoid(x) at 0, too.
ir::ValueId softplus(ops::Builder& builder, ir::ValueId x);

/// x - log(sum exp(x)) over the last dimension, without overflow.
ir::ValueId log_softmax(ops::Builder& builder, ir::ValueId x);

/// Classes i32 [...] -> [..., classes]: 1 at the class, 0 elsewhere; of an ignored one (< 0) all 0.
ir::ValueId one_hot(ops::Builder& builder, ir::ValueId target, std::int64_t classes);

/// Classes i32 [...], with `classes` in place of those that nobody knows (< 0).
ir::ValueId known_labels(ops::Builder& builder, ir::ValueId labels, std::int64_t classes);

/// Over the last dimension: [..., K] -> [...].
ir::ValueId sum_last(ops::Builder& builder, ir::ValueId x);
ir::ValueId mean_last(ops::Builder& builder, ir::ValueId x);

/// [...] -> [..., 1], to be broadcast over the last dimension.
ir::ValueId as_column(ops::Builder& builder, ir::ValueId x);

} // namespace weft::nn
