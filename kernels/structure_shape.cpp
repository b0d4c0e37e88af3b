// SPDX-License-Identifier: Apache-2.0
#include "kernels/structure_shape.h"

namespace weft::kernels {
namespace {

void want_one_dtype(const Op& op) {
    for (int i = 0; i < op.inputs(); ++i) {
        require(op.input(i).dtype == op.output(0).dtype, "input and output differ in dtype");
    }
}

/// Every element of the output from the input, under the strides `src`.
MovedBox gathered_box(const Op& op, Dims src, std::int64_t src_start) {
    const Dims to = shape_of(op.output(0));
    return {to, std::move(src), dense_strides(to), src_start, 0};
}

/// Where a box at `corner` of an array with these strides begins.
std::int64_t start_of(const Dims& corner, const Dims& strides) {
    std::int64_t start = 0;
    for (std::size_t d = 0; d < corner.size(); ++d) {
        start += corner[d] * strides[d];
    }
    return start;
}

} // namespace

std::int64_t copied_bytes(const Op& op) {
    want_one_dtype(op);
    require(element_count(op.input(0)) == element_count(op.output(0)),
            "input and output differ in size");
    return element_count(op.input(0)) * dtype_size(op.input(0).dtype);
}

MovedBox transposed_box(const Op& op) {
    const Dims order = op.list("permutation");
    const Dims from = shape_of(op.input(0));
    const Dims to = shape_of(op.output(0));
    want_one_dtype(op);
    require(order.size() == from.size() && to.size() == from.size(),
            "the permutation's length is not the rank");
    const Dims dense = dense_strides(from);
    Dims strides(from.size());
    std::vector<bool> seen(from.size());
    for (std::size_t d = 0; d < order.size(); ++d) {
        const auto source = static_cast<std::size_t>(order[d]);
        require(order[d] >= 0 && source < from.size() && !seen[source], "not a permutation");
        require(to[d] == from[source], "the output's shape is not the permuted one");
        seen[source] = true;
        strides[d] = dense[source];
    }
    return gathered_box(op, std::move(strides), 0);
}

MovedBox broadcast_box(const Op& op) {
    want_one_dtype(op);
    return gathered_box(op, broadcast_strides(op.input(0), op.output(0)), 0);
}

MovedBox sliced_box(const Op& op) {
    const Dims starts = op.list("starts");
    const Dims from = shape_of(op.input(0));
    const Dims to = shape_of(op.output(0));
    want_one_dtype(op);
    require(starts.size() == from.size() && to.size() == from.size(),
            "starts, input and output differ in rank");
    for (std::size_t d = 0; d < from.size(); ++d) {
        require(starts[d] >= 0 && starts[d] + to[d] <= from[d], "the slice leaves the input");
    }
    const Dims dense = dense_strides(from);
    return gathered_box(op, dense, start_of(starts, dense));
}

MovedBox padded_box(const Op& op) {
    const Dims low = op.list("low");
    const Dims from = shape_of(op.input(0));
    const Dims to = shape_of(op.output(0));
    want_one_dtype(op);
    require(low.size() == from.size() && to.size() == from.size(), "ranks differ");
    for (std::size_t d = 0; d < from.size(); ++d) {
        require(low[d] >= 0 && low[d] + from[d] <= to[d], "the input leaves the padded output");
    }
    const Dims dense = dense_strides(to);
    return {from, dense_strides(from), dense, 0, start_of(low, dense)};
}

std::vector<MovedBox> concatenated_boxes(const Op& op) {
    const std::int64_t dim = op.integer("dim");
    const Dims to = shape_of(op.output(0));
    want_one_dtype(op);
    require(dim >= 0 && dim < op.output(0).rank, "no such dimension to concatenate along");
    const auto along = static_cast<std::size_t>(dim);
    const Dims dense = dense_strides(to);
    std::vector<MovedBox> boxes;
    std::int64_t done = 0;
    for (int i = 0; i < op.inputs(); ++i) {
        const Dims shape = shape_of(op.input(i));
        require(shape.size() == to.size(), "inputs differ in rank");
        for (std::size_t d = 0; d < to.size(); ++d) {
            require(shape[d] == to[d] || d == along,
                    "inputs differ outside the concatenated dimension");
        }
        boxes.push_back({shape, dense_strides(shape), dense, 0, done * dense[along]});
        done += shape[along];
    }
    require(done == to[along], "the parts do not fill the output");
    return boxes;
}

} // namespace weft::kernels
