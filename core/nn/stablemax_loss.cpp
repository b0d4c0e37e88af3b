// SPDX-License-Identifier: Apache-2.0
// Cross-entropy over stablemax (Prieto et al. 2025), whose probabilities are s(x) / sum of s, with
// s(x) = 1 + x for x >= 0 and 1 / (1 - x) below. As log s(x) = sign(x) log(1 + |x|), that is
// cross-entropy of logits that went through symlog; so both share kernels and placements on a mesh.
// In f32 loss and gradient differ from those in f64 by less than the last digit of a probability
// near 1 (tests/nn).
#include "core/nn/loss_def.h"

namespace weft::nn {
namespace {

ir::ValueId stablemax_logits(ops::Builder& b, ir::ValueId output) {
    return b.emit("symlog", {output});
}

ir::ValueId build_stablemax(ops::Builder& b, const config::Json&, const Prediction& p) {
    Prediction moved = p;
    moved.output = stablemax_logits(b, p.output);
    const config::Json plain = config::Json::object(); // every setting at its default
    return kCrossEntropyLoss.build(b, config::check_fields(plain, kCrossEntropyLoss.fields()).value,
                                   moved);
}

} // namespace

const LossDef kStablemaxLoss = {
    .name = "stablemax",
    .help = "Cross-entropy of probabilities that grow with a logit, not with its exponential.",
    .fields = no_loss_fields,
    .needs_classes = true,
    .build = build_stablemax,
    .logits = stablemax_logits};

} // namespace weft::nn
