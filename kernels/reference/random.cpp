// SPDX-License-Identifier: Apache-2.0
#include "kernels/random_shape.h"
#include "kernels/reference/reference_list.h"

namespace weft::kernels::reference {
namespace {

/// out[i] = draw(block of element i).
template <class Draw>
Body generate(const Op& op, Draw draw) {
    const RandomShape s = random_shape(op, 0);
    return [=](const Call& call) {
        const std::int64_t* random = call.integers(0);
        const Stream stream(random, s.stream);
        for (std::int64_t i = 0; i < s.count; ++i) {
            const std::int64_t index = s.base(random, i / s.run) + i % s.run;
            call.out(0)[i] = draw(stream.block(static_cast<std::uint64_t>(index)));
        }
        return WEFT_OK;
    };
}

} // namespace

Body make_dropout(const Op& op) { // x, random -> y
    const RandomShape s = random_shape(op, 1);
    const double rate = op.real("rate");
    require(rate >= 0.0 && rate < 1.0, "the dropout rate is not in [0, 1)");
    require(same_shape(op.input(0), op.output(0)), "dropout keeps the shape");
    return [=](const Call& call) {
        const std::int64_t* random = call.integers(1);
        const Stream stream(random, s.stream);
        for (std::int64_t i = 0; i < s.count; ++i) {
            const std::int64_t index = s.base(random, i / s.run) + i % s.run;
            const float u = uniform_of(stream.word(static_cast<std::uint64_t>(index)));
            call.out(0)[i] =
                u >= static_cast<float>(rate) ? call.in(0)[i] * (1.0 / (1.0 - rate)) : 0.0;
        }
        return WEFT_OK;
    };
}

Body make_random_uniform(const Op& op) {
    const double low = op.real("low");
    const double high = op.real("high");
    return generate(op, [=](const PhiloxBlock& block) {
        return low + (high - low) * static_cast<double>(uniform_of(block[0]));
    });
}

Body make_random_normal(const Op& op) {
    const double mean = op.real("mean");
    const double stddev = op.real("stddev");
    return generate(op, [=](const PhiloxBlock& block) { return mean + stddev * normal_of(block); });
}

Body make_random_truncated_normal(const Op& op) {
    const double mean = op.real("mean");
    const double stddev = op.real("stddev");
    return generate(
        op, [=](const PhiloxBlock& block) { return mean + stddev * truncated_normal_of(block); });
}

} // namespace weft::kernels::reference
