// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: angles in double, as far positions would lose their digits in f32; a
// block takes one row's and turns all of its heads by them.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/launch.h"
#include "kernels/rotary_shape.h"

namespace weft::kernels::cuda {

constexpr int kMostPairs = 256;

/// Radians per position of each pair of channels, by value.
struct Frequencies {
    double at[kMostPairs];
};

WEFT_KERNEL rotary_rows(i64 rows, i64 heads, int pairs, const Frequencies frequencies,
                        const i64* position, const Source x, const Target y) {
    WEFT_SHARED(float, cosines, kMostPairs);
    WEFT_SHARED(float, sines, kMostPairs);
    const i64 row = block();
    const i64 place = (position != nullptr ? *position : 0) + row % rows;
    for (int i = thread(); i < pairs; i += threads()) {
        const double angle = static_cast<double>(place) * frequencies.at[i];
        cosines[i] = static_cast<float>(cos(angle));
        sines[i] = static_cast<float>(sin(angle));
    }
    barrier();
    const i64 start = row * heads * pairs * 2;
    for (i64 k = thread(); k < heads * pairs; k += threads()) {
        const int i = static_cast<int>(k % pairs);
        const i64 at = start + k / pairs * pairs * 2 + i;
        const float first = load(x, at);
        const float second = load(x, at + pairs);
        const float cosine = cosines[i];
        const float sine = sines[i];
        store(y, at, first * cosine - second * sine);
        store(y, at + pairs, second * cosine + first * sine);
    }
}

Made make_rotary(const Op& op) { // x, position? -> y
    const RotaryShape s = rotary_shape(op);
    const int x = float_dtype(op.input(0));
    const int y = float_dtype(op.output(0));
    const auto pairs = static_cast<int>(s.d / 2);
    if (s.d / 2 > kMostPairs) {
        unsupported("heads of at most 512 channels");
    }
    Frequencies frequencies{};
    for (int i = 0; i < pairs; ++i) {
        frequencies.at[i] = s.frequency(i);
    }
    return launches([=](const Run& run) {
        const i64 work = ceil_divide(s.h * pairs, kWarp) * kWarp;
        const Grid grid{s.n * s.t, 1, static_cast<int>(std::clamp<i64>(work, kWarp, 256))};
        run.launch(grid, rotary_rows, s.t, s.h, pairs, frequencies,
                   s.positioned ? static_cast<const i64*>(run.in(1)) : nullptr,
                   Source{run.in(0), x}, Target{run.out(0), y});
    });
}

} // namespace weft::kernels::cuda
