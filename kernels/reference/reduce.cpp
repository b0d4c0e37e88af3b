// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/reference_list.h"

#include <cmath>
#include <limits>

namespace weft::kernels::reference {
namespace {

/// out[j] = fold of every input element whose kept coordinates are j's.
template <class Fold>
Body reduce(const Op& op, double start, Fold fold) {
    const Dims shape = shape_of(op.input(0));
    std::vector<bool> reduced(shape.size());
    for (std::int64_t dim : op.list("dims")) {
        dim += dim < 0 ? op.input(0).rank : 0;
        require(dim >= 0 && dim < op.input(0).rank, "no such dimension to reduce");
        reduced[static_cast<std::size_t>(dim)] = true;
    }
    Dims target(shape.size()); // strides of the output in the input's dimensions
    std::int64_t outputs = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        target[d] = reduced[d] ? 0 : outputs;
        outputs *= reduced[d] ? 1 : shape[d];
    }
    require(outputs == element_count(op.output(0)), "the output's size is not that of the rest");
    const Dims dense = dense_strides(shape);
    const std::int64_t count = element_count(op.input(0));
    return [=](const Call& call) {
        for (std::int64_t j = 0; j < outputs; ++j) {
            call.out(0)[j] = start;
        }
        for (std::int64_t i = 0; i < count; ++i) {
            std::int64_t j = 0;
            for (std::size_t d = 0; d < shape.size(); ++d) {
                j += i / dense[d] % shape[d] * target[d];
            }
            call.out(0)[j] = fold(call.out(0)[j], call.in(0)[i]);
        }
        return WEFT_OK;
    };
}

} // namespace

Body make_reduce_sum(const Op& op) {
    return reduce(op, 0.0, [](double sum, double x) { return sum + x; });
}

Body make_reduce_max(const Op& op) { // NaN propagates
    return reduce(op, -std::numeric_limits<double>::infinity(),
                  [](double max, double x) { return x > max || std::isnan(x) ? x : max; });
}

Body make_sum_squares(const Op& op) {
    std::vector<std::int64_t> counts;
    for (int i = 0; i < op.inputs(); ++i) {
        counts.push_back(element_count(op.input(i)));
    }
    require(element_count(op.output(0)) == 1, "the sum of squares is one number");
    return [=](const Call& call) {
        double sum = 0.0;
        for (std::size_t x = 0; x < counts.size(); ++x) {
            const double* in = call.in(static_cast<int>(x));
            for (std::int64_t i = 0; i < counts[x]; ++i) {
                sum += in[i] * in[i];
            }
        }
        call.out(0)[0] = sum;
        return WEFT_OK;
    };
}

Body make_argmax(const Op& op) {
    const std::int64_t rows = row_count(op.input(0));
    const std::int64_t width = last_dim(op.input(0));
    require(op.input(0).rank >= 1 && element_count(op.output(0)) == rows,
            "argmax gives one index per row");
    return [=](const Call& call) {
        for (std::int64_t r = 0; r < rows; ++r) {
            const double* x = call.in(0) + r * width;
            std::int64_t best = 0;
            for (std::int64_t v = 1; v < width; ++v) {
                best = x[v] > x[best] ? v : best;
            }
            call.out(0)[r] = static_cast<double>(best);
        }
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
