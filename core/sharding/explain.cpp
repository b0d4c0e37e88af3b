// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/explain.h"

#include "core/sharding/axis_list.h"

#include <algorithm>

namespace weft::sharding {
namespace {

constexpr std::string_view kGradient = "gradient/";

std::string names(std::span<const int> axes, const Mesh& mesh) {
    std::string out;
    for (const int axis : axes) {
        out += (out.empty() ? "" : ", ") + mesh.axes[static_cast<std::size_t>(axis)].name;
    }
    return out;
}

/// Axes that split an array.
std::vector<int> axes_of(const Sharding& sharding, const Mesh& mesh) {
    std::vector<int> out;
    for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
        if (sharding.uses(axis)) {
            out.push_back(axis);
        }
    }
    return out;
}

std::vector<int> without(std::vector<int> some, std::span<const int> axes) {
    std::erase_if(some, [&](int axis) { return contains(axes, axis); });
    return some;
}

/// "NAME is split over its rows": along the dimension that one of the axes splits.
std::string split_text(const SlotView& view, std::span<const int> axes) {
    const std::size_t rank = view.used->dims.size();
    for (std::size_t dim = 0; dim < rank; ++dim) {
        for (const Split& split : view.used->dims[dim]) {
            if (std::any_of(split.axes.begin(), split.axes.end(),
                            [&](int axis) { return contains(axes, axis); })) {
                const std::string along = rank == 1  ? ""
                                          : rank > 2 ? " along dimension " + std::to_string(dim)
                                          : dim == 0 ? " over its rows"
                                                     : " over its columns";
                return view.slot->name + " is split" + along;
            }
        }
    }
    return {};
}

/// What a forward op makes is a layer's output; what a backward op makes is the gradient of what
/// the layer read.
std::string made_by(const ir::Op& maker) {
    const std::string where = maker.path.empty() ? maker.kind : maker.path;
    return maker.phase == ir::Phase::backward  ? "gradient of " + where + " input"
           : maker.phase == ir::Phase::forward ? where + " output"
                                               : op_text(maker);
}

/// "loss is computed in parts over "
std::string in_parts(const ir::Op& op) {
    const bool layer = op.phase != ir::Phase::update && !op.path.empty();
    return (layer ? op.path.text() : op_text(op)) + " is computed in parts over ";
}

std::string what_of(const Move& move) {
    const std::string& name = move.name;
    if (name.starts_with(kGradient)) {
        return "gradient of " + name.substr(kGradient.size());
    }
    const ir::Op* maker = move.sums != nullptr ? move.sums : move.maker;
    return move.slot != nullptr ? move.slot->name
           : !name.empty()      ? name
           : maker != nullptr   ? made_by(*maker)
                                : "";
}

void explain_sum(const Move& move, Cause& out) {
    const std::vector<int> sums = without(move.from.partial, move.to.partial);
    if (sums.empty()) {
        return;
    }
    const std::string& name = move.name;
    const std::string over = names(sums, move.mesh);
    if (name.starts_with(kGradient)) {
        out.sum_tensor = name.substr(kGradient.size());
        const bool cut =
            std::any_of(sums.begin(), sums.end(), [&](int axis) { return move.to.uses(axis); });
        out.sum_why = cut ? out.sum_tensor + " is updated in parts over " + over
                          : out.sum_tensor + " is copied over " + over;
    } else if (move.summing.slot != nullptr) {
        out.sum_tensor = move.summing.slot->name;
        out.sum_why = split_text(move.summing, sums);
    } else if (without(sums, move.batch_axes).empty()) {
        out.sum_why = "samples are split over " + over;
    } else {
        out.sum_why =
            (move.sums != nullptr ? in_parts(*move.sums) : "it is computed in parts over ") + over;
    }
}

void explain_move(const Move& move, Cause& out) {
    const std::vector<int> kept = axes_of(move.from, move.mesh);
    const std::vector<int> lost = without(kept, axes_of(move.to, move.mesh));
    const std::string over = names(lost.empty() ? kept : lost, move.mesh);
    const bool renews = move.reader.kind.text().starts_with("new ");
    if (renews) {
        out.move_tensor = move.reader.kind.text().substr(4);
        out.move_why = out.move_tensor + " is updated in parts over " + over;
    } else if (move.slot != nullptr) {
        out.move_tensor = move.slot->name;
        out.move_why = out.move_tensor + " is kept in parts over " + over;
    } else if (move.reading.slot != nullptr && move.reading.used != nullptr &&
               std::any_of(lost.begin(), lost.end(),
                           [&](int axis) { return move.reading.used->uses(axis); })) {
        out.move_tensor = move.reading.slot->name;
        out.move_why = split_text(move.reading, lost);
    } else {
        out.move_why = op_text(move.reader) +
                       (lost.empty() ? " splits it another way over " : " needs all of it over ") +
                       over;
    }
}

} // namespace

Cause explain(const Move& move) {
    Cause out;
    out.reader = op_text(move.reader);
    out.what = what_of(move);
    explain_sum(move, out);
    explain_move(move, out);
    return out;
}

Cause explain_within(const ir::Op& op, std::span<const int> axes, const Mesh& mesh) {
    Cause out;
    out.reader = op_text(op);
    out.what = "sums of " + (op.path.empty() ? op.kind : op.path);
    out.sum_why = out.move_why = in_parts(op) + names(axes, mesh);
    return out;
}

} // namespace weft::sharding
