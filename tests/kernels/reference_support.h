// SPDX-License-Identifier: Apache-2.0
// Short forms for tests that run the reference back end in f64.
#pragma once

#include "tests/kernels/cases/harness.h"

#include <cmath>
#include <vector>

namespace weft::test {

inline Tensor reals(const Shape& shape, const std::vector<double>& values) {
    return tensor(WEFT_F64, shape, values);
}
inline weft_tensor_type f64(const Shape& shape) {
    return type_of(WEFT_F64, shape);
}
inline Tensor whole(const Shape& shape, const std::vector<double>& values) {
    return tensor(WEFT_I32, shape, values);
}

/// All outputs one after another; empty on failure.
inline std::vector<double> values_of(const Call& call) {
    const Result r = run(weft_reference_backend(), call);
    std::vector<double> values;
    for (const Tensor& output : r.outputs) {
        for (std::int64_t i = 0; i < output.count(); ++i) {
            values.push_back(output.get(i));
        }
    }
    return values;
}

/// Equal up to f64 rounding of a few operations.
inline bool near(const std::vector<double>& a, const std::vector<double>& b,
                 double tolerance = 1e-12) {
    bool equal = a.size() == b.size();
    for (std::size_t i = 0; equal && i < a.size(); ++i) {
        equal = std::fabs(a[i] - b[i]) <= tolerance;
    }
    return equal;
}

} // namespace weft::test
