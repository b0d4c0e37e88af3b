// SPDX-License-Identifier: Apache-2.0
// How the terms of a metric become one number: over samples and positions, microsteps, batches of
// an evaluation, and devices alike. A metric's record names its reduction.
#pragma once

#include "core/ir/program.h"

#include <string_view>

namespace weft::ops {
class Builder; // core/ops/builder.h
} // namespace weft::ops

namespace weft::nn {

struct ReductionDef {
    std::string_view name;
    std::string_view help;
    bool per_term;       // what is joined is a sum, and is divided by the number of terms
    std::string_view of; // what programs give of it: "<metric>_sum"
    double start;        // joined with x: x
    /// terms [B] or [B, T] f32, weights [B] f32 -> f32[]; rows of weight 0 are padding.
    ir::ValueId (*of_terms)(ops::Builder& builder, ir::ValueId terms, ir::ValueId weights);
    ir::ValueId (*join)(ops::Builder& builder, ir::ValueId a, ir::ValueId b); // f32[]
    double (*join_numbers)(double a, double b);
    bool per_sample = false; // terms are of samples; their sum is divided by the number of those
};

/// "mean", "sum", "max", "min" or "mean_of_samples". Throws weft::Error{usage} that lists these for
/// any other name; `where` is who asks.
const ReductionDef& reduction_named(std::string_view name, std::string_view where);

/// terms [B] or [B, T] times weights [B], summed: f32[].
ir::ValueId weighted_sum(ops::Builder& builder, ir::ValueId terms, ir::ValueId weights);

} // namespace weft::nn
