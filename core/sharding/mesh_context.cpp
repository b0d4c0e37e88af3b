// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/mesh_context.h"

#include "core/base/error.h"
#include "core/sharding/axis_list.h"
#include "core/sharding/explain.h"

#include <algorithm>

namespace weft::sharding {

std::int64_t MeshContext::local_size(int factor) const {
    return local_extent(splits(factor), size(factor), mesh_);
}

std::int64_t MeshContext::parts(int factor) const {
    if (!is_split(factor)) {
        return 1;
    }
    const DimSharding& own = splits(factor);
    return around(own, own.size() - 1, size(factor), mesh_).before;
}

std::int64_t MeshContext::devices(int factor) const {
    std::int64_t out = 1;
    for (const Split& split : is_split(factor) ? splits(factor) : DimSharding()) {
        out *= mesh_.size(split.axes);
    }
    return out;
}

ir::ValueId MeshContext::origin(std::span<const int> factors, std::span<const std::int64_t> base) {
    std::vector<std::vector<Resharder::Stride>> rows;
    for (const int factor : factors) {
        std::vector<Resharder::Stride>& row = rows.emplace_back();
        for (const Split& split : factor < 0 ? DimSharding() : splits(factor)) {
            row.push_back({split.axes, split.unit * deal(split, size(factor), mesh_).local});
        }
    }
    return resharder_.index(builder(), rows, {base.begin(), base.end()});
}

ir::ValueId MeshContext::real(int factor) {
    ir::ValueId ones = ops::constant(builder(), 1.0, {local_size(factor)});
    for (std::size_t i = 0; i < splits(factor).size(); ++i) {
        if (deal(splits(factor)[i], size(factor), mesh_).padding() != 0) {
            ones = resharder_.mask(builder(), ones, 0, splits(factor), i, size(factor), 0.0);
        }
    }
    return ones;
}

ir::ValueId MeshContext::all_reduce(ir::ValueId value, int factor, ops::Combine combine) {
    std::vector<int> axes;
    for (const Split& split : splits(factor)) {
        add_axes(axes, split.axes);
    }
    return resharder_.all_reduce(builder(), value, axes,
                                 combine == ops::Combine::max ? "max" : "sum",
                                 explain_within(whole().op, axes, mesh_));
}

ir::ValueId MeshContext::from_part_before(ir::ValueId value, int factor) {
    const DimSharding& own = splits(factor);
    std::vector<int> axes;
    bool follow = parts(factor) == 1; // and padding, if any, is behind all of them
    for (const Split& split : own) {
        axes.insert(axes.end(), split.axes.begin(), split.axes.end());
        follow = follow && (own.size() == 1 || deal(split, size(factor), mesh_).padding() == 0);
    }
    if (!follow) {
        throw Error(ErrorKind::usage, whole().op.path,
                    whole().op.kind + ": its positions are split twice, and do not divide",
                    "Choose a context that divides over the devices that split the sequence.");
    }
    return resharder_.permute(builder(), value, axes, 1, explain_within(whole().op, axes, mesh_));
}

} // namespace weft::sharding
