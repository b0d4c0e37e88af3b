// SPDX-License-Identifier: Apache-2.0
#include "core/nn/reduction.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ops/builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace weft::nn {
namespace {

using ir::ValueId;
using ops::Builder;

// Not infinity: what no term has replaced must stay a number that the host can print.
constexpr double kLeast = std::numeric_limits<float>::lowest();

/// weights [B] in the rank of the terms.
ValueId along(Builder& b, ValueId weights, const ir::Shape& terms) {
    return terms.rank() == 2 ? ops::reshape(b, weights, {terms[0], 1}) : weights;
}

std::vector<std::int64_t> all_dims(const ir::Shape& shape) {
    std::vector<std::int64_t> out;
    for (int dim = 0; dim < shape.rank(); ++dim) {
        out.push_back(dim);
    }
    return out;
}

ValueId largest(Builder& b, ValueId terms, ValueId weights) {
    const ir::Shape shape = b.shape(terms);
    const ValueId counts = b.emit("less", {ops::constant(b, 0.0), along(b, weights, shape)});
    const ValueId counted = ops::select(b, counts, terms, ops::constant(b, kLeast));
    return b.emit("reduce_max", {counted}, {{"dims", all_dims(shape)}, {"keep", false}});
}

ValueId negated(Builder& b, ValueId x) {
    return ops::affine(b, x, -1.0);
}

ValueId smallest(Builder& b, ValueId terms, ValueId weights) {
    return negated(b, largest(b, negated(b, terms), weights));
}

double sum_of(double a, double b) {
    return a + b;
}
// A NaN stays one, as in the kernels.
double larger_of(double a, double b) {
    return std::isnan(a) || a > b ? a : b;
}
double smaller_of(double a, double b) {
    return std::isnan(a) || a < b ? a : b;
}

constexpr std::array kReductions = {
    ReductionDef{"mean", "of all terms", true, "sum", 0.0, weighted_sum, ops::add, sum_of},
    ReductionDef{"sum", "of all terms", false, "sum", 0.0, weighted_sum, ops::add, sum_of},
    ReductionDef{"max", "the largest term", false, "max", kLeast, largest, ops::maximum, larger_of},
    ReductionDef{"min", "the smallest term", false, "min", -kLeast, smallest, ops::minimum,
                 smaller_of},
    ReductionDef{"mean_of_samples", "of one term of each sample", false, "sum", 0.0, weighted_sum,
                 ops::add, sum_of, true},
};

} // namespace

const ReductionDef& reduction_named(std::string_view name, std::string_view where) {
    const auto found = std::find_if(kReductions.begin(), kReductions.end(),
                                    [&](const ReductionDef& def) { return def.name == name; });
    if (found == kReductions.end()) {
        std::vector<std::string> known;
        for (const ReductionDef& def : kReductions) {
            known.emplace_back(def.name);
        }
        throw Error(ErrorKind::usage, std::string(where),
                    "there is no reduction '" + shown(name) + "'", "one of " + join(known, ", "));
    }
    return *found;
}

ValueId weighted_sum(Builder& b, ValueId terms, ValueId weights) {
    const ir::Shape shape = b.shape(terms);
    return ops::reduce_sum(b, ops::mul(b, terms, along(b, weights, shape)), all_dims(shape));
}

} // namespace weft::nn
