// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/lint.h"

#include "core/base/text.h"

#include <algorithm>

namespace weft::sharding {
namespace {

class Linter {
public:
    Linter(const PlacedArray& placed, const Placement& placement, std::vector<Finding>& out)
        : array_(placed.array), stored_(placed.stored), placement_(placement), out_(out) {}

    void run() {
        for (int dim = 0; dim < array_.type.shape.rank(); ++dim) {
            padding(dim);
        }
        if (const auto* spec = own_spec()) {
            by_spec(spec->first, spec->second);
        } else {
            by_rules();
        }
        by_zero_stage();
    }

private:
    const Mesh& mesh() const { return placement_.mesh; }

    /// The optimizer's state lies as its parameter does, whose spec therefore counts.
    const std::pair<std::string, ir::Spec>* own_spec() const {
        const std::string& name =
            array_.kind == SlotInfo::Kind::optimizer ? array_.parameter : array_.name;
        const auto found =
            std::find_if(placement_.specs.begin(), placement_.specs.end(), [&](const auto& entry) {
                return array_.kind != SlotInfo::Kind::batch && glob_match(entry.first, name);
            });
        return found == placement_.specs.end() ? nullptr : &*found;
    }

    bool splits_by_zero_stage() const {
        return (array_.kind == SlotInfo::Kind::parameter && placement_.zero_stage >= 3) ||
               (array_.kind == SlotInfo::Kind::optimizer && placement_.zero_stage >= 1);
    }

    bool is_zero_axis(int axis) const {
        const auto& names = placement_.zero_axes;
        const std::string& name = mesh().axes[static_cast<std::size_t>(axis)].name;
        return std::find(names.begin(), names.end(), name) != names.end();
    }

    std::vector<std::string> names(std::span<const int> axes) const {
        std::vector<std::string> out;
        for (const int axis : axes) {
            out.push_back(mesh().axes[static_cast<std::size_t>(axis)].name);
        }
        return out;
    }

    std::string logical_of(int dim) const {
        const auto d = static_cast<std::size_t>(dim);
        return d < array_.logical_axes.size() ? parse_logical_axis(array_.logical_axes[d]).name
                                              : std::string();
    }

    std::string stage_text() const { return "zero_stage " + std::to_string(placement_.zero_stage); }

    Finding& add(Finding::Kind kind, int dim, std::span<const int> axes) {
        Finding& out = out_.emplace_back();
        out.kind = kind;
        out.array = array_.name;
        out.dim = dim;
        out.axes = names(axes);
        out.devices = mesh().size(axes);
        return out;
    }

    void padding(int dim) {
        const std::int64_t extent = array_.type.shape[dim];
        for (const Split& split : stored_.dims[static_cast<std::size_t>(dim)]) {
            const Deal dealt = deal(split, extent, mesh());
            if (dealt.padding() == 0) {
                continue;
            }
            Finding& found = add(Finding::Kind::uneven, dim, split.axes);
            found.units = dealt.units;
            found.bytes = padding_bytes(array_.type, stored_, mesh());
            const bool zero = splits_by_zero_stage() && is_zero_axis(split.axes.front());
            if (array_.kind == SlotInfo::Kind::batch) {
                found.asked_by = "the batch";
                found.pointer = "/training/global_batch_size";
            } else if (zero) {
                found.asked_by = stage_text();
                found.pointer = "/mesh/zero_stage";
            } else if (const auto* spec = own_spec()) {
                found.asked_by = "its spec";
                found.pointer = "/mesh/specs/" + spec->first;
            } else {
                found.asked_by = "its rule";
                found.logical = logical_of(dim);
                found.pointer = "/mesh/rules";
            }
        }
    }

    /// Axes of more than one device that do not split the array.
    std::vector<int> unused(std::vector<int> axes) const {
        std::erase_if(axes, [&](int axis) { return mesh().size(axis) == 1 || stored_.uses(axis); });
        return axes;
    }

    void whole(int dim, std::span<const int> axes, std::int64_t units, std::string asked_by,
               std::string pointer) {
        Finding& found = add(Finding::Kind::whole, dim, axes);
        const std::int64_t held = local_type(array_.type, stored_, mesh()).bytes();
        found.bytes = held - held / found.devices;
        found.units = units;
        found.asked_by = std::move(asked_by);
        found.pointer = std::move(pointer);
    }

    void by_spec(const std::string& pattern, const ir::Spec& spec) {
        for (std::size_t dim = 0; dim < spec.dims.size() && dim < stored_.dims.size(); ++dim) {
            std::vector<int> axes;
            for (const std::string& name : spec.dims[dim]) {
                axes.push_back(mesh().find(name));
            }
            if (axes = unused(std::move(axes)); !axes.empty()) {
                whole(static_cast<int>(dim), axes, array_.type.shape[static_cast<int>(dim)],
                      "its spec", "/mesh/specs/" + pattern);
            }
        }
    }

    void by_rules() {
        std::vector<int> told; // an axis splits one dimension at most: it is missed once
        for (std::size_t dim = 0; dim < array_.logical_axes.size() && dim < stored_.dims.size();
             ++dim) {
            const LogicalAxis logical = parse_logical_axis(array_.logical_axes[dim]);
            std::vector<int> axes = unused(placement_.axes_of(logical.name));
            std::erase_if(axes, [&](int axis) {
                return std::find(told.begin(), told.end(), axis) != told.end();
            });
            if (axes.empty()) {
                continue;
            }
            told.insert(told.end(), axes.begin(), axes.end());
            const bool batch = array_.kind == SlotInfo::Kind::batch;
            whole(static_cast<int>(dim), axes,
                  array_.type.shape[static_cast<int>(dim)] / (logical.parts * logical.unit),
                  "the rule for " + logical.name,
                  batch ? "/training/global_batch_size" : "/mesh/rules");
            out_.back().logical = logical.name;
        }
    }

    void by_zero_stage() {
        if (!splits_by_zero_stage() || array_.type.shape.rank() == 0) {
            return;
        }
        std::vector<int> axes;
        for (const std::string& name : placement_.zero_axes) {
            axes.push_back(mesh().find(name));
        }
        std::erase(axes, -1);
        if (axes = unused(std::move(axes)); !axes.empty()) {
            whole(-1, axes, 0, stage_text(), "/mesh/zero_stage");
        }
    }

    const SlotInfo& array_;
    const Sharding& stored_;
    const Placement& placement_;
    std::vector<Finding>& out_;
};

std::string over(const Finding& finding) {
    return std::to_string(finding.devices) + " devices (" + join(finding.axes, ", ") + ")";
}

} // namespace

std::vector<Finding> lint(const std::vector<PlacedArray>& arrays, const Placement& placement) {
    std::vector<Finding> out;
    for (const PlacedArray& placed : arrays) {
        Linter(placed, placement, out).run();
    }
    return out;
}

std::string message_of(const Finding& finding) {
    const std::string along =
        finding.dim < 0 ? "" : " along dimension " + std::to_string(finding.dim);
    if (finding.kind == Finding::Kind::uneven) {
        return "is padded" + along + ": " + format_thousands(finding.units) +
               " units do not divide over " + over(finding) + "; " + format_bytes(finding.bytes) +
               " of padding on all devices together";
    }
    const std::string why = finding.dim < 0 ? "no dimension splits over " + over(finding)
                                            : format_thousands(finding.units) +
                                                  " units cannot be split over " + over(finding);
    return "stays whole" + along + " although " + finding.asked_by + " would split it: " + why +
           "; each device holds " + format_bytes(finding.bytes) + " more than its share";
}

std::string hint_of(const Finding& finding) {
    if (finding.kind == Finding::Kind::uneven) {
        return "Use a multiple of " + std::to_string(finding.devices) + ", or accept the padding.";
    }
    return finding.dim < 0 ? "Use fewer devices along " + join(finding.axes, ", ") +
                                 ", or accept that it is replicated."
                           : "Split over at most " + format_thousands(finding.units) +
                                 " devices, or accept that it is replicated.";
}

} // namespace weft::sharding
