// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding (Su et al. 2021), halves as pairs.
#include "kernels/reference/reference_list.h"
#include "kernels/rotary_shape.h"

namespace weft::kernels::reference {

Body make_rotary(const Op& op) { // x, position? -> y
    const RotaryShape s = rotary_shape(op);
    return [=](const Call& call) {
        const std::int64_t start = s.positioned ? call.integers(1)[0] : 0;
        const std::int64_t half = s.d / 2;
        for (std::int64_t row = 0; row < s.n * s.t * s.h; ++row) {
            const double* x = call.in(0) + row * s.d;
            double* y = call.out(0) + row * s.d;
            const auto position = static_cast<double>(start + row / s.h % s.t);
            for (std::int64_t i = 0; i < half; ++i) {
                const double angle = position * s.frequency(i);
                const double first = x[i];
                const double second = x[i + half];
                y[i] = first * std::cos(angle) - second * std::sin(angle);
                y[i + half] = second * std::cos(angle) + first * std::sin(angle);
            }
        }
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
