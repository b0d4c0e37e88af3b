// SPDX-License-Identifier: Apache-2.0
#include "core/foreign/layout.h"

#include "core/base/check.h"

#include <algorithm>
#include <array>

namespace weft::foreign {
namespace {

/// Dimension i of the result is dimension order[i] of `shape`.
using Order = std::vector<int>;

Order order_there(Layout layout) {
    return layout == Layout::transposed    ? Order{1, 0}
           : layout == Layout::convolution ? Order{3, 2, 0, 1}
                                           : Order{};
}

Order order_here(Layout layout) {
    return layout == Layout::transposed    ? Order{1, 0}
           : layout == Layout::convolution ? Order{2, 3, 1, 0}
                                           : Order{};
}

/// Walks the result in its own order; an empty order changes nothing.
std::vector<float> permuted(const ir::Shape& shape, const Order& order,
                            std::span<const float> values) {
    WEFT_CHECK(static_cast<std::int64_t>(values.size()) == shape.elements(),
               "an array has the numbers of its shape");
    std::vector<float> out(values.begin(), values.end());
    if (order.empty() || values.empty()) {
        return out;
    }
    const int rank = shape.rank();
    WEFT_CHECK(rank == static_cast<int>(order.size()), "a layout is for arrays of its rank");
    std::array<std::int64_t, ir::Shape::kMaxRank> stride{}; // of the result's dimensions
    std::array<std::int64_t, ir::Shape::kMaxRank> at{};
    std::array<std::int64_t, ir::Shape::kMaxRank> extent{};
    for (int i = 0; i < rank; ++i) {
        extent[i] = shape[order[i]];
        stride[i] = 1;
        for (int j = order[i] + 1; j < rank; ++j) {
            stride[i] *= shape[j];
        }
    }
    std::int64_t from = 0;
    for (float& value : out) {
        value = values[static_cast<std::size_t>(from)];
        for (int i = rank - 1; i >= 0; --i) {
            from += stride[i];
            if (++at[i] < extent[i]) {
                break;
            }
            from -= stride[i] * extent[i];
            at[i] = 0;
        }
    }
    return out;
}

} // namespace

ir::Shape shape_there(Layout layout, const ir::Shape& here) {
    const Order order = order_there(layout);
    ir::Shape out;
    if (layout == Layout::in_one || layout == Layout::in_two) {
        for (int i = layout == Layout::in_one ? 1 : 0; i < 2; ++i) {
            out.push_back(1);
        }
    }
    for (int i = 0; i < here.rank(); ++i) {
        const bool turned = static_cast<int>(order.size()) == here.rank();
        out.push_back(here[turned ? order[static_cast<std::size_t>(i)] : i]);
    }
    return out;
}

std::vector<float> to_ours(Layout layout, const ir::Shape& theirs, std::span<const float> values) {
    return permuted(theirs, order_here(layout), values);
}

std::vector<float> to_theirs(Layout layout, const ir::Shape& ours, std::span<const float> values) {
    return permuted(ours, order_there(layout), values);
}

std::vector<float> joined(std::span<const std::vector<float>> parts, std::int64_t rows) {
    std::vector<float> out;
    const auto count = static_cast<std::size_t>(rows);
    for (std::size_t row = 0; row < count; ++row) {
        for (const std::vector<float>& part : parts) {
            const std::size_t width = part.size() / count;
            const auto from = part.begin() + static_cast<std::ptrdiff_t>(row * width);
            out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(width));
        }
    }
    return out;
}

std::vector<float> part_of(std::span<const float> values, std::int64_t rows, std::size_t index,
                           std::size_t count) {
    const std::size_t width = values.size() / static_cast<std::size_t>(rows);
    const std::size_t own = width / count;
    std::vector<float> out;
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
        const auto part = values.subspan(row * width + index * own, own);
        out.insert(out.end(), part.begin(), part.end());
    }
    return out;
}

} // namespace weft::foreign
