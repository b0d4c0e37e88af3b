// SPDX-License-Identifier: Apache-2.0
// The geometry and options of rotary position embedding, read once for every back end. Row t of
// x [N,T,H,D] stands at position + t; channels i and i + D / 2 turn by that times theta^(-2 i / D).
#pragma once

#include "kernels/op.h"

#include <cmath>

namespace weft::kernels {

struct RotaryShape {
    std::int64_t n, t, h, d; // samples, rows, heads, head width
    double theta;
    double sign;     // -1 turns back
    bool positioned; // operand 1 holds the position of row 0; else it is 0

    /// Radians per position of channels i and i + D / 2.
    double frequency(std::int64_t i) const {
        return sign * std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(d));
    }
};

/// x [N,T,H,D], position i64[]? with the options of `op`. Throws BAD_ARGUMENT.
RotaryShape rotary_shape(const Op& op);

} // namespace weft::kernels
