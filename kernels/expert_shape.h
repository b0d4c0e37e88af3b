// SPDX-License-Identifier: Apache-2.0
// What descriptions of expert routing mean, read once for every back end. A row e A + a of a sample
// n is the element [e, n, a] of the experts' rows [E, N, A, C].
#pragma once

#include "kernels/host_device.h"
#include "kernels/op.h"

namespace weft::kernels {

struct ExpertShape {
    std::int64_t experts = 0, samples = 0, capacity = 0, channels = 0; // E, N, A, C
    std::int64_t tokens = 0, choices = 0;                              // T, K

    /// First element of a row, which must be in range.
    WEFT_HOST_DEVICE std::int64_t element_of(std::int64_t sample, std::int64_t row) const {
        return ((row / capacity * samples + sample) * capacity + row % capacity) * channels;
    }
    WEFT_HOST_DEVICE bool is_row(std::int64_t row) const {
        return row >= 0 && row < experts * capacity;
    }
};

/// rows [E, N, A, C], places [N, T, K], tokens [N, T, C]. Throws BAD_ARGUMENT.
ExpertShape expert_shape(const Type& rows, const Type& places, const Type& tokens);

} // namespace weft::kernels
