// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/reference_list.h"

namespace weft::kernels::reference {

Body make_embedding(const Op& op) {
    require(op.input(0).rank == 2, "the table is not [V, C]");
    const std::int64_t rows = op.input(0).shape[0];
    const std::int64_t width = op.input(0).shape[1];
    const std::int64_t count = element_count(op.input(1));
    require(element_count(op.output(0)) == count * width, "the output is not [..., C]");
    return [=](const Call& call) {
        for (std::int64_t i = 0; i < count; ++i) {
            const auto id = static_cast<std::int64_t>(call.in(1)[i]);
            if (id < 0 || id >= rows) {
                return fail(WEFT_BAD_ARGUMENT, "embedding: an id is outside the table");
            }
            for (std::int64_t c = 0; c < width; ++c) {
                call.out(0)[i * width + c] = call.in(0)[id * width + c];
            }
        }
        return WEFT_OK;
    };
}

Body make_embedding_grad(const Op& op) {
    require(op.output(0).rank == 2, "the table's gradient is not [V, C]");
    const std::int64_t rows = op.output(0).shape[0];
    const std::int64_t width = op.output(0).shape[1];
    const std::int64_t count = element_count(op.input(0));
    require(element_count(op.input(1)) == count * width, "the upstream gradient is not [..., C]");
    return [=](const Call& call) {
        for (std::int64_t i = 0; i < rows * width; ++i) {
            call.out(0)[i] = 0.0;
        }
        for (std::int64_t i = 0; i < count; ++i) {
            const auto id = static_cast<std::int64_t>(call.in(0)[i]);
            if (id < 0 || id >= rows) {
                return fail(WEFT_BAD_ARGUMENT, "embedding_grad: an id is outside the table");
            }
            for (std::int64_t c = 0; c < width; ++c) {
                call.out(0)[id * width + c] += call.in(1)[i * width + c];
            }
        }
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
