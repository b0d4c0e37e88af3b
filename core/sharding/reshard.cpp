// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/reshard.h"

#include "core/sharding/axis_list.h"

#include <algorithm>
#include <optional>

namespace weft::sharding {
namespace {

using ir::ValueId;
using ops::Builder;
using List = std::vector<std::int64_t>;

bool all_in(std::span<const int> some, std::span<const int> axes) {
    return std::all_of(some.begin(), some.end(), [&](int axis) { return contains(axes, axis); });
}

bool uses_any(const Sharding& sharding, std::span<const int> axes) {
    return std::any_of(axes.begin(), axes.end(), [&](int axis) { return sharding.uses(axis); });
}

std::vector<int> comes_before(std::vector<int> some, std::span<const int> axes) {
    std::erase_if(some, [&](int axis) { return contains(axes, axis); });
    return some;
}

/// The one split that a dimension has more than before.
struct Addition {
    DimSharding splits; // where runs are cut further: as two splits
    std::size_t at = 0; // the added one

    const AxisList& axes() const { return splits[at].axes; }
};

/// None where `after` is not `before` and one more: behind the last split, or cutting its runs
/// further.
std::optional<Addition> addition(const DimSharding& before, const DimSharding& after,
                                 std::int64_t extent, const Mesh& mesh) {
    if (after.size() == before.size() + 1 &&
        std::equal(before.begin(), before.end(), after.begin())) {
        return Addition{after, before.size()};
    }
    if (before.size() != after.size() || before == after ||
        !std::equal(before.begin(), before.end() - 1, after.begin())) {
        return std::nullopt;
    }
    const Split& old_split = before.back();
    const Split& new_split = after.back();
    const Deal old_deal = deal(old_split, extent, mesh);
    const Deal new_deal = deal(new_split, extent, mesh);
    if (new_split.parts != old_split.parts || new_split.axes.size() <= old_split.axes.size() ||
        !std::equal(old_split.axes.begin(), old_split.axes.end(), new_split.axes.begin()) ||
        old_deal.padding() != 0 || new_deal.padding() != 0) {
        return std::nullopt;
    }
    const auto shared = static_cast<std::ptrdiff_t>(old_split.axes.size());
    Addition out{before, before.size()};
    out.splits.push_back({{new_split.axes.begin() + shared, new_split.axes.end()},
                          old_split.parts * old_deal.devices,
                          new_split.unit * new_deal.local});
    return out;
}

} // namespace

/// A local part as [outer, units, inner] around one split.
struct Resharder::View {
    std::int64_t outer = 1, inner = 1;
    Deal dealt;
    AxisList axes;
    ir::Shape whole_dim; // extents with the split gone
    ir::Shape local_dim; // extents with the split
};

Resharder::View Resharder::view(const ir::Shape& shape, int dim, const DimSharding& splits,
                                std::size_t split, std::int64_t extent) const {
    View out;
    const Surround around_dim = around(splits, split, extent, mesh_);
    out.dealt = deal(splits[split], extent, mesh_);
    out.axes = splits[split].axes;
    for (int d = 0; d < shape.rank(); ++d) {
        if (d != dim) {
            (d < dim ? out.outer : out.inner) *= shape[d];
        }
    }
    out.outer *= around_dim.before;
    out.inner *= around_dim.behind;
    out.whole_dim = out.local_dim = shape;
    out.whole_dim[dim] = around_dim.before * out.dealt.units * around_dim.behind;
    out.local_dim[dim] = around_dim.before * out.dealt.local * around_dim.behind;
    return out;
}

ir::Attributes Resharder::exchange(std::span<const int> axes, const Cause& cause,
                                   Reason reason) const {
    std::string names;
    for (const int axis : axes) {
        names += (names.empty() ? "" : ",") + mesh_.axes[static_cast<std::size_t>(axis)].name;
    }
    ir::Attributes out{{"axes", names}, {"count", mesh_.size(axes)}, {"cause", cause.reader}};
    const auto say = [&](std::string_view name, const std::string& text) {
        if (!text.empty()) {
            out.set(name, text);
        }
    };
    say("what", cause.what);
    say("why", reason == Reason::sum ? cause.sum_why : cause.move_why);
    say("tensor", reason == Reason::sum ? cause.sum_tensor : cause.move_tensor);
    return out;
}

ValueId Resharder::all_reduce(Builder& b, ValueId value, std::span<const int> axes,
                              std::string_view how, const Cause& cause) const {
    ir::Attributes attributes = exchange(axes, cause, Reason::sum);
    attributes.set("reduce", std::string(how));
    return b.emit("all_reduce", {value}, attributes);
}

ValueId Resharder::permute(Builder& b, ValueId value, std::span<const int> axes,
                           std::int64_t shift, const Cause& cause) const {
    ir::Attributes attributes = exchange(axes, cause, Reason::move);
    attributes.set("shift", shift);
    return b.emit("permute", {value}, attributes);
}

ValueId Resharder::index(Builder& b, const std::vector<std::vector<Stride>>& rows,
                         const List& base) const {
    List strides;
    for (const std::vector<Stride>& row : rows) {
        List own(mesh_.axes.size(), 0);
        for (const Stride& one : row) {
            std::int64_t stride = one.step;
            for (std::size_t i = one.axes.size(); i-- > 0;) {
                own[static_cast<std::size_t>(one.axes[i])] = stride;
                stride *= mesh_.size(one.axes[i]);
            }
        }
        strides.insert(strides.end(), own.begin(), own.end());
    }
    return b.emit("mesh_index", {coordinates_()}, {{"strides", strides}, {"base", base}});
}

// [outer, units, inner] padded and cut: [outer, n, local, inner], or with the parts first.
ValueId Resharder::stack(Builder& b, ValueId x, const View& at, bool parts_first) const {
    const Deal& d = at.dealt;
    if (d.padding() != 0) {
        x = ops::reshape(b, x, {at.outer, d.units, at.inner});
        x = b.emit("pad", {x},
                   {{"low", List{0, 0, 0}}, {"high", List{0, d.padding(), 0}}, {"value", 0.0}});
    }
    x = ops::reshape(b, x, {at.outer, d.devices, d.local, at.inner});
    return parts_first && at.outer != 1 ? ops::transpose(b, x, {1, 0, 2, 3}) : x;
}

// [n, outer, local, inner] joined to whole_dim.
ValueId Resharder::unstack(Builder& b, ValueId x, const View& at) const {
    const Deal& d = at.dealt;
    x = ops::reshape(b, x, {d.devices, at.outer, d.local, at.inner});
    if (at.outer != 1) {
        x = ops::transpose(b, x, {1, 0, 2, 3});
    }
    if (d.padding() != 0) {
        x = ops::reshape(b, x, {at.outer, d.devices * d.local, at.inner});
        x = ops::slice(b, x, {0, 0, 0}, {at.outer, d.units, at.inner});
    }
    return ops::reshape(b, x, at.whole_dim);
}

ValueId Resharder::gather(Builder& b, ValueId x, const View& at, const Cause& cause) const {
    return unstack(b, b.emit("all_gather", {x}, exchange(at.axes, cause, Reason::move)), at);
}

ValueId Resharder::scatter(Builder& b, ValueId x, const View& at, const Cause& cause) const {
    ir::Attributes attributes = exchange(at.axes, cause, Reason::sum);
    attributes.set("reduce", std::string("sum"));
    x = ops::reshape(b, stack(b, x, at, true),
                     {at.dealt.devices, at.outer, at.dealt.local, at.inner});
    return ops::reshape(b, b.emit("reduce_scatter", {x}, attributes), at.local_dim);
}

ValueId Resharder::pick(Builder& b, ValueId x, const View& at) const {
    const ValueId number = index(b, {{{at.axes, 1}}}, {0});
    x = b.emit("pick", {stack(b, x, at, false), number}, {{"dim", std::int64_t{1}}});
    return ops::reshape(b, x, at.local_dim);
}

ValueId Resharder::mask(Builder& b, ValueId x, int dim, const DimSharding& splits,
                        std::size_t split, std::int64_t extent, double value) const {
    const ir::Shape shape = b.shape(x);
    const View at = view(shape, dim, splits, split, extent);
    const ValueId first = index(b, {{{at.axes, at.dealt.local}}}, {0});
    x = ops::reshape(b, x, {at.outer, at.dealt.local, at.inner});
    x = b.emit("mask", {x, first},
               {{"dim", std::int64_t{1}}, {"extent", at.dealt.units}, {"value", value}});
    return ops::reshape(b, x, shape);
}

// From the last split of `dim` to the split `to` of another dimension over the same axes.
ValueId Resharder::exchange_dims(Builder& b, ValueId x, const View& to, int dim,
                                 const DimSharding& from, std::size_t split, std::int64_t extent,
                                 const Cause& cause) const {
    ir::Shape parts{to.dealt.devices};
    for (const std::int64_t size : to.local_dim) {
        parts.push_back(size);
    }
    x = ops::reshape(b, stack(b, x, to, true), parts);
    x = b.emit("all_to_all", {x}, exchange(to.axes, cause, Reason::move));
    return unstack(b, x, view(to.local_dim, dim, from, split, extent));
}

// A complete value as a sum: zero on all devices of a group but the first.
ValueId Resharder::first_only(Builder& b, ValueId x, const AxisList& axes) const {
    const ValueId number = ops::cast(b, index(b, {{{axes, 1}}}, {0}), ir::DType::f32);
    const ValueId later = ops::minimum(b, number, ops::constant(b, 1.0));
    const ValueId share =
        ops::cast(b, ops::affine(b, ops::reshape(b, later, {}), -1.0, 1.0), b.type(x).dtype);
    return ops::mul(b, x, share);
}

ValueId Resharder::reshard(Builder& b, ValueId x, const ir::Type& whole, Sharding from,
                           const Sharding& to, const Cause& cause) const {
    const auto extent = [&](std::size_t dim) { return whole.shape[static_cast<int>(dim)]; };
    // What a dimension becomes next on its way: of several splits to add, one.
    const auto next = [&](std::size_t dim) {
        const DimSharding& now = from.dims[dim];
        const DimSharding& aim = to.dims[dim];
        if (aim.size() <= now.size() + 1 || !std::equal(now.begin(), now.end(), aim.begin())) {
            return aim;
        }
        return DimSharding(aim.begin(), aim.begin() + static_cast<std::ptrdiff_t>(now.size()) + 1);
    };
    const auto added = [&](std::size_t dim) {
        return addition(from.dims[dim], next(dim), extent(dim), mesh_);
    };
    const auto at = [&](std::size_t dim, const DimSharding& splits, std::size_t split) {
        return view(b.shape(x), static_cast<int>(dim), splits, split, extent(dim));
    };
    const std::size_t rank = to.dims.size();
    // 1. Sums that end up split over their own axes.
    std::vector<int> sums = comes_before(from.partial, to.partial);
    for (std::size_t dim = 0; dim < rank; ++dim) {
        for (auto more = added(dim); more && all_in(more->axes(), sums); more = added(dim)) {
            x = scatter(b, x, at(dim, more->splits, more->at), cause);
            from.dims[dim] = next(dim);
            sums = comes_before(sums, more->axes());
        }
    }
    // 2. All other sums.
    if (!sums.empty()) {
        x = all_reduce(b, x, sums, "sum", cause);
    }
    // 3. A split that moves from one dimension to another.
    for (std::size_t dim = 0; dim < rank; ++dim) {
        const auto lost = addition(to.dims[dim], from.dims[dim], extent(dim), mesh_);
        for (std::size_t other = 0; lost && other < rank; ++other) {
            const auto more = added(other);
            if (other != dim && more && more->axes() == lost->axes()) {
                x = exchange_dims(b, x, at(other, more->splits, more->at), static_cast<int>(dim),
                                  lost->splits, lost->at, extent(dim), cause);
                from.dims[dim] = to.dims[dim];
                from.dims[other] = next(other);
                break;
            }
        }
    }
    // 4. Cuts over axes that are free.
    for (std::size_t dim = 0; dim < rank; ++dim) {
        for (auto more = added(dim); more && !uses_any(from, more->axes()); more = added(dim)) {
            x = pick(b, x, at(dim, more->splits, more->at));
            from.dims[dim] = next(dim);
        }
    }
    // 5. Gathers, the innermost split first, and no further than the two differ.
    for (std::size_t dim = 0; dim < rank; ++dim) {
        while (from.dims[dim] != to.dims[dim] && !from.dims[dim].empty() && !added(dim)) {
            const auto less_now = addition(to.dims[dim], from.dims[dim], extent(dim), mesh_);
            const DimSharding splits = less_now ? less_now->splits : from.dims[dim];
            x = gather(b, x, at(dim, splits, splits.size() - 1), cause);
            if (less_now) {
                from.dims[dim] = to.dims[dim];
            } else {
                from.dims[dim].pop_back();
            }
        }
    }
    // 6. What could not be cut before.
    for (std::size_t dim = 0; dim < rank; ++dim) {
        for (auto more = added(dim); more; more = added(dim)) {
            x = pick(b, x, at(dim, more->splits, more->at));
            from.dims[dim] = next(dim);
        }
        WEFT_CHECK(from.dims[dim] == to.dims[dim], "resharding reaches its aim");
    }
    const std::vector<int> new_sums = comes_before(to.partial, from.partial);
    return new_sums.empty() ? x : first_only(b, x, new_sums);
}

} // namespace weft::sharding
