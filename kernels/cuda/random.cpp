// SPDX-License-Identifier: Apache-2.0
// Random numbers and dropout: the bits of kernels/philox.h for the logical index of each element.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/launch.h"
#include "kernels/random_shape.h"

namespace weft::kernels::cuda {

/// RandomShape by value: kernels take no vectors.
struct RandomPlan {
    i64 count, run;
    u64 stream;
    int rank, part;
    i64 shape[WEFT_MAX_RANK], extents[WEFT_MAX_RANK];
};

/// RandomShape::base on the device.
WEFT_DEVICE i64 logical_base(const RandomPlan& s, const std::int64_t* random, i64 number) {
    i64 index = 0;
    i64 factor = 1;
    i64 rest = number * s.run;
    for (int d = s.rank; d-- > 0;) {
        const i64 origin = s.part != 0 ? random[3 + d] : 0;
        index += (origin + rest % s.shape[d]) * factor;
        rest /= s.shape[d];
        factor *= s.extents[d];
    }
    return index + random[2] * (s.rank == 0 ? 1 : factor / s.extents[0]);
}

WEFT_DEVICE std::uint64_t logical_index(const RandomPlan& s, const std::int64_t* random, i64 i) {
    return static_cast<std::uint64_t>(logical_base(s, random, i / s.run) + i % s.run);
}

WEFT_KERNEL dropout_elements(const RandomPlan s, const Source x, const std::int64_t* random,
                             float rate, float scale, const Target y) {
    for (i64 i = block() * threads() + thread(); i < s.count; i += blocks() * threads()) {
        const std::uint32_t word = Stream(random, s.stream).word(logical_index(s, random, i));
        const bool kept = uniform_of(word) >= rate;
        store(y, i, kept ? load(x, i) * scale : 0.0f);
    }
}

enum class Draw : int { uniform, normal, truncated };

/// Computed in double and rounded once, as on every device.
WEFT_KERNEL random_elements(const RandomPlan s, const std::int64_t* random, Draw draw, double shift,
                            double scale, const Target y) {
    for (i64 i = block() * threads() + thread(); i < s.count; i += blocks() * threads()) {
        const PhiloxBlock words = Stream(random, s.stream).block(logical_index(s, random, i));
        double number = 0.0;
        if (draw == Draw::uniform) {
            number = static_cast<double>(uniform_of(words[0]));
        } else {
            number = draw == Draw::normal ? normal_of(words) : truncated_normal_of(words);
        }
        store(y, i, static_cast<float>(shift + scale * number));
    }
}

namespace {

RandomPlan random_plan(const Op& op, int random) {
    const RandomShape shape = random_shape(op, random);
    RandomPlan out{shape.count,
                   shape.run,
                   shape.stream,
                   static_cast<int>(shape.shape.size()),
                   shape.part ? 1 : 0,
                   {},
                   {}};
    for (std::size_t d = 0; d < shape.shape.size(); ++d) {
        out.shape[d] = shape.shape[d];
        out.extents[d] = shape.extents[d];
    }
    return out;
}

Made generated(const Op& op, Draw draw, double shift, double scale) {
    const RandomPlan s = random_plan(op, 0);
    const int y = float_dtype(op.output(0));
    return launches([=](const Run& run) {
        run.launch(grid_over(s.count), random_elements, s,
                   static_cast<const std::int64_t*>(run.in(0)), draw, shift, scale,
                   Target{run.out(0), y});
    });
}

} // namespace

Made make_dropout(const Op& op) { // x, random -> y
    const RandomPlan s = random_plan(op, 1);
    const double rate = op.real("rate");
    require(rate >= 0.0 && rate < 1.0, "the dropout rate is not in [0, 1)");
    require(same_shape(op.input(0), op.output(0)), "dropout keeps the shape");
    const int x = float_dtype(op.input(0));
    const int y = float_dtype(op.output(0));
    return launches([=](const Run& run) {
        run.launch(grid_over(s.count), dropout_elements, s, Source{run.in(0), x},
                   static_cast<const std::int64_t*>(run.in(1)), static_cast<float>(rate),
                   static_cast<float>(1.0 / (1.0 - rate)), Target{run.out(0), y});
    });
}

Made make_random_uniform(const Op& op) {
    const double low = op.real("low");
    return generated(op, Draw::uniform, low, op.real("high") - low);
}

Made make_random_normal(const Op& op) {
    return generated(op, Draw::normal, op.real("mean"), op.real("stddev"));
}

Made make_random_truncated_normal(const Op& op) {
    return generated(op, Draw::truncated, op.real("mean"), op.real("stddev"));
}

} // namespace weft::kernels::cuda
