// SPDX-License-Identifier: Apache-2.0
// What random ops share: the hash of the stream, and which logical index each element has. The
// random operand is i64[3] = {seed, step, first sample}; for a part of a larger array it goes on
// with the origin of the part, one number per dimension of attribute `extents`.
#pragma once

#include "kernels/op.h"
#include "kernels/philox.h"

namespace weft::kernels {

struct RandomShape {
    std::int64_t count; // elements
    std::int64_t run;   // of these, in a row with consecutive logical indices
    Dims shape;
    Dims extents; // of the whole array
    std::uint64_t stream;

    std::int64_t runs() const { return run == 0 ? 0 : count / run; }
    /// Logical index of the first element of a run. The leading dimension counts samples.
    std::int64_t base(const std::int64_t* random, std::int64_t number) const {
        std::int64_t index = 0;
        std::int64_t factor = 1;
        std::int64_t rest = number * run;
        for (std::size_t d = shape.size(); d-- > 0;) {
            const std::int64_t origin = part ? random[3 + d] : 0;
            index += (origin + rest % shape[d]) * factor;
            rest /= shape[d];
            factor *= extents[d];
        }
        return index + random[2] * (shape.empty() ? 1 : factor / extents[0]);
    }

    bool part = false;
};

/// `random` is the index of the random operand. Throws BAD_ARGUMENT.
inline RandomShape random_shape(const Op& op, int random) {
    RandomShape out;
    out.shape = shape_of(op.output(0));
    out.extents = out.shape;
    out.part = op.has("extents");
    if (out.part) {
        out.extents = op.list("extents");
        require(out.extents.size() == out.shape.size(), "extents are not those of the output");
    }
    const auto length = static_cast<std::int64_t>(out.part ? 3 + out.shape.size() : std::size_t{3});
    require(op.input(random).dtype == WEFT_I64 && element_count(op.input(random)) == length,
            "the random operand is not i64[3] or i64[3 + R]");
    out.count = element_count(op.output(0));
    out.run = 1;
    for (std::size_t d = out.shape.size(); d-- > 0;) {
        out.run *= out.shape[d];
        if (out.shape[d] != out.extents[d]) {
            break;
        }
    }
    for (std::int64_t& extent : out.extents) {
        extent = extent > 0 ? extent : 1;
    }
    out.stream = stream_hash(op.text("stream"));
    return out;
}

} // namespace weft::kernels
