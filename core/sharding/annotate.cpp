// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/annotate.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/sharding/axis_list.h"

#include <algorithm>
#include <charconv>

namespace weft::sharding {
namespace {

bool is_experts(const std::vector<std::string>& logical_axes, std::size_t dim) {
    return dim < logical_axes.size() && parse_logical_axis(logical_axes[dim]).name == "expert";
}

/// Splits a dimension further, behind the splits that it has; false: it does not nest.
bool split_further(DimSharding& dim, std::vector<int> axes, std::int64_t extent, const Mesh& mesh) {
    Split further{std::move(axes), 1, 1};
    if (!dim.empty()) { // cuts the runs that are there
        const Deal dealt = deal(dim.back(), extent, mesh);
        if (dealt.padding() != 0) {
            return false;
        }
        further.parts = dim.back().parts * dealt.devices;
    }
    if (!fits(further, extent, mesh)) {
        return false;
    }
    dim.push_back(canonical(further, extent, mesh));
    return true;
}

class Annotator {
public:
    explicit Annotator(const Placement& placement) : placement_(placement) {
        for (const std::string& name : placement.zero_axes) {
            const int axis = placement.mesh.find(name);
            if (axis >= 0 && placement.mesh.size(axis) > 1) {
                zero_axes_.push_back(axis);
            }
        }
        batch_axes_ = placement.axes_of("batch");
    }

    Annotations run(const std::vector<SlotInfo>& slots) {
        for (const SlotInfo& slot : slots) {
            if (slot.kind != SlotInfo::Kind::optimizer) {
                add(slot);
            }
        }
        for (const SlotInfo& slot : slots) {
            if (slot.kind == SlotInfo::Kind::optimizer) {
                const auto owner = asked_.find(slot.parameter);
                const bool alike =
                    owner != asked_.end() &&
                    owner->second.dims.size() == static_cast<std::size_t>(slot.type.shape.rank());
                // Scales of blocks have fewer columns than the parameter: what does not fit is left
                // out.
                const Sharding stored = alike ? only_fitting(slot, owner->second)
                                              : Sharding::replicated(slot.type.shape.rank());
                const Sharding used = alike ? as_used(slot, stored) : stored;
                out_.state[slot.name] = {used,
                                         placement_.zero_stage >= 1 ? zero(slot, stored) : stored};
            }
        }
        return std::move(out_);
    }

private:
    void add(const SlotInfo& slot) {
        if (slot.kind == SlotInfo::Kind::batch) {
            const Sharding rows = batch_sharding(slot.type, 1, false, placement_);
            out_.state[slot.name] = {rows, rows};
            return;
        }
        const Sharding asked = by_name_or_rule(slot);
        const Sharding used = as_used(slot, asked);
        const bool parameter = slot.kind == SlotInfo::Kind::parameter;
        const int stage = placement_.zero_stage;
        out_.state[slot.name] = {used, parameter && stage >= 3 ? zero(slot, asked) : asked};
        if (parameter) {
            asked_[slot.name] = asked;
            out_.gradients[slot.name] = {.used = stage >= 2 ? zero(slot, asked) : used,
                                         .stored = stage >= 1 ? zero(slot, asked) : asked};
        }
    }

    Sharding by_name_or_rule(const SlotInfo& slot) const {
        for (const auto& [pattern, spec] : placement_.specs) {
            if (glob_match(pattern, slot.name)) {
                const std::string wrong = check_spec(spec, slot.type.shape, placement_.mesh);
                if (!wrong.empty()) {
                    throw Error(ErrorKind::usage, "/mesh/specs/" + pattern,
                                slot.name + ": " + wrong,
                                "Name the tensors more exactly, or leave entries out.");
                }
                return only_fitting(slot, from_spec(spec, slot.type.shape, placement_.mesh));
            }
        }
        Sharding out = Sharding::replicated(slot.type.shape.rank());
        std::vector<int> taken;
        for (std::size_t dim = 0; dim < slot.logical_axes.size(); ++dim) {
            const LogicalAxis axis = parse_logical_axis(slot.logical_axes[dim]);
            Split split{placement_.axes_of(axis.name), axis.parts, axis.unit};
            split.axes.remove_if([&](int own) { return contains(taken, own); });
            if (!split.axes.empty()) {
                taken.insert(taken.end(), split.axes.begin(), split.axes.end());
                out.dims[dim] = {split};
            }
        }
        return only_fitting(slot, std::move(out));
    }

    /// Leaves out splits with fewer units than devices.
    Sharding only_fitting(const SlotInfo& slot, Sharding sharding) const {
        for (int dim = 0; dim < slot.type.shape.rank(); ++dim) {
            DimSharding& own = sharding.dims[static_cast<std::size_t>(dim)];
            const std::int64_t extent = slot.type.shape[dim];
            if (own.empty()) {
                continue;
            }
            if (fits(own[0], extent, placement_.mesh)) {
                own[0] = canonical(own[0], extent, placement_.mesh);
            } else {
                own.clear();
            }
        }
        return sharding;
    }

    /// An axis that splits the batch cannot split the ops' work on weights too: there it only says
    /// how they are kept. But for experts: the batch gives up the axis for them.
    Sharding as_used(const SlotInfo& slot, Sharding sharding) const {
        for (std::size_t dim = 0; dim < sharding.dims.size(); ++dim) {
            if (is_experts(slot.logical_axes, dim)) {
                continue;
            }
            for (Split& split : sharding.dims[dim]) {
                split.axes.remove_if([&](int axis) { return contains(batch_axes_, axis); });
            }
            std::erase_if(sharding.dims[dim],
                          [](const Split& split) { return split.axes.empty(); });
            for (Split& split : sharding.dims[dim]) { // fewer devices, larger runs
                split = canonical(split, slot.type.shape[static_cast<int>(dim)], placement_.mesh);
            }
        }
        return sharding;
    }

    /// Splits the array over the data axes as well, along the dimension with the least padding.
    Sharding zero(const SlotInfo& slot, const Sharding& sharding) const {
        std::vector<int> axes = zero_axes_;
        std::erase_if(axes, [&](int axis) { return sharding.uses(axis); });
        const Mesh& mesh = placement_.mesh;
        if (axes.empty()) {
            return sharding;
        }
        std::optional<Sharding> best;
        std::int64_t least = 0;
        for (int dim = 0; dim < slot.type.shape.rank(); ++dim) {
            Sharding tried = sharding;
            DimSharding& own = tried.dims[static_cast<std::size_t>(dim)];
            const std::int64_t extent = slot.type.shape[dim];
            const bool behind = !own.empty(); // cuts runs further: evenly, or not at all
            if (!split_further(own, axes, extent, mesh) ||
                (behind && deal(own.back(), extent, mesh).padding() != 0)) {
                continue;
            }
            const std::int64_t padding = padding_bytes(slot.type, tried, mesh);
            if (!best || padding < least) {
                best = tried;
                least = padding;
            }
        }
        return best.value_or(sharding);
    }

    const Placement& placement_;
    std::vector<int> zero_axes_, batch_axes_;
    std::map<std::string, Sharding, std::less<>> asked_; // of parameters
    Annotations out_;
};

} // namespace

std::vector<int> Placement::axes_of(std::string_view logical) const {
    std::vector<int> out;
    for (const Rule& rule : rules) {
        if (rule.logical == logical) {
            for (const std::string& name : rule.axes) {
                const int axis = mesh.find(name);
                if (axis >= 0 && mesh.size(axis) > 1) {
                    out.push_back(axis);
                }
            }
            return out;
        }
    }
    return out;
}

LogicalAxis parse_logical_axis(std::string_view text) {
    LogicalAxis out;
    for (const std::string& word : split(text, '*')) {
        std::int64_t number = 0;
        const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
        if (read.ec != std::errc() || read.ptr != word.data() + word.size()) {
            out.name = word;
        } else {
            (out.name.empty() ? out.parts : out.unit) = number;
        }
    }
    return out;
}

Annotations annotate(const std::vector<SlotInfo>& slots, const Placement& placement) {
    return Annotator(placement).run(slots);
}

Sharding batch_sharding(const ir::Type& type, int batch_dim, bool positions,
                        const Placement& placement) {
    Sharding out = Sharding::replicated(type.shape.rank());
    std::vector<int> others; // axes that split weights as well
    for (const Rule& rule : placement.rules) {
        if (rule.logical != "batch" && rule.logical != "sequence") {
            const std::vector<int> axes = placement.axes_of(rule.logical);
            others.insert(others.end(), axes.begin(), axes.end());
        }
    }
    // As several splits, so that each of those can be given up without the rest.
    const auto apart = [&](std::span<const int> axes, std::int64_t extent) {
        DimSharding several;
        for (auto first = axes.begin(); first != axes.end();) {
            auto end = first + 1;
            while (!contains(others, *first) && end != axes.end() && !contains(others, *end)) {
                ++end;
            }
            if (!split_further(several, {first, end}, extent, placement.mesh)) {
                return DimSharding();
            }
            first = end;
        }
        return several;
    };
    const auto set = [&](int dim, std::string_view logical) {
        const std::vector<int> axes = placement.axes_of(logical);
        if (dim >= type.shape.rank() || axes.empty()) {
            return;
        }
        DimSharding& own = out.dims[static_cast<std::size_t>(dim)];
        const std::int64_t extent = type.shape[dim];
        own = apart(axes, extent);
        if (own.empty()) {
            split_further(own, axes, extent, placement.mesh);
        }
    };
    set(batch_dim, "batch");
    if (positions) {
        set(type.shape.rank() - 1, "sequence");
    }
    return out;
}

} // namespace weft::sharding
