// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/reference_list.h"

#include <algorithm>
#include <cstring>

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

Body make_sum_rows(const Op& op) { // ids, rows -> firsts, sums
    const std::int64_t count = element_count(op.input(0));
    const std::int64_t width = op.input(1).shape[op.input(1).rank - 1];
    require(element_count(op.input(1)) == count * width, "the rows are not [..., C]");
    require(element_count(op.output(0)) == count && element_count(op.output(1)) == count * width,
            "the outputs are not ids and rows");
    return [=](const Call& call) {
        const double* ids = call.in(0);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t first = std::find(ids, ids + i, ids[i]) - ids;
            call.out(0)[i] = first == i && ids[i] >= 0 ? ids[i] : -1;
            for (std::int64_t c = 0; c < width; ++c) {
                call.out(1)[i * width + c] = 0;
                if (ids[i] >= 0) {
                    call.out(1)[first * width + c] += call.in(1)[i * width + c];
                }
            }
        }
        return WEFT_OK;
    };
}

Body make_write_rows(const Op& op) { // table, ids, rows -> table
    const Type& table = op.input(0);
    require(table.rank == 2 && same_shape(table, op.output(0)), "the table is not [V, C]");
    const std::int64_t count = element_count(op.input(1));
    require(element_count(op.input(2)) == count * table.shape[1], "the rows are not [..., C]");
    require(op.input(2).dtype == table.dtype && op.output(0).dtype == table.dtype,
            "table and rows differ in dtype");
    require(op.input(1).dtype == WEFT_I32, "the ids are not i32");
    const std::int64_t rows = table.shape[0];
    const std::int64_t row_bytes = table.shape[1] * dtype_size(table.dtype);
    return [=](const Call& call) {
        const auto* ids = static_cast<const std::int32_t*>(call.raw_in(1));
        auto* out = static_cast<unsigned char*>(call.raw_out(0));
        if (call.raw_in(0) != call.raw_out(0)) {
            std::memcpy(out, call.raw_in(0), static_cast<std::size_t>(rows * row_bytes));
        }
        for (std::int64_t i = 0; i < count; ++i) {
            if (ids[i] >= rows) {
                return fail(WEFT_BAD_ARGUMENT, "write_rows: an id is outside the table");
            }
            if (ids[i] >= 0) {
                std::memcpy(out + ids[i] * row_bytes,
                            static_cast<const unsigned char*>(call.raw_in(2)) + i * row_bytes,
                            static_cast<std::size_t>(row_bytes));
            }
        }
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
