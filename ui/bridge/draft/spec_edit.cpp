// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/spec_edit.h"

#include "core/base/text.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/ir/text.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/override_edit.h"
#include "ui/bridge/draft/rule_edit.h"
#include "ui/bridge/plan/tensor_tiles.h"

#include <QObject>

#include <algorithm>

namespace weft::ui {
namespace {

using sharding::Placement;
using sharding::Sharding;

sharding::SlotInfo infoOf(const plan::StateSlot& slot) {
    return {slot.category == plan::Category::parameters ? sharding::SlotInfo::Kind::parameter
                                                        : sharding::SlotInfo::Kind::other,
            slot.name,
            {},
            slot.whole,
            slot.logical_axes};
}

/// As it is kept.
Sharding stored(const plan::StateSlot& slot, const Placement& placement) {
    return sharding::annotate({infoOf(slot)}, placement).state.at(slot.name).stored;
}

/// What rules and overrides ask for, before ZeRO.
Sharding asked(const plan::StateSlot& slot, Placement placement) {
    placement.zero_stage = 0;
    return stored(slot, placement);
}

/// An override for more dimensions than the tensor has says nothing about it.
Placement placementFor(const plan::StateSlot& slot, const compile::RunConfig& config) {
    Placement out = compile::placement_of(config.section("mesh"));
    std::erase_if(out.specs, [&](const auto& entry) {
        return static_cast<int>(entry.second.dims.size()) > slot.whole.shape.rank();
    });
    return out;
}

const std::pair<std::string, ir::Spec>* overrideOf(const plan::StateSlot& slot,
                                                   const Placement& placement) {
    const auto found = std::ranges::find_if(
        placement.specs, [&](const auto& entry) { return glob_match(entry.first, slot.name); });
    return found == placement.specs.end() ? nullptr : &*found;
}

sharding::LogicalAxis logicalOf(const plan::StateSlot& slot, int dim) {
    const auto d = static_cast<std::size_t>(dim);
    return d < slot.logical_axes.size() ? sharding::parse_logical_axis(slot.logical_axes[d])
                                        : sharding::LogicalAxis{};
}

std::vector<std::string> namesOf(const sharding::DimSharding& dim, const sharding::Mesh& mesh) {
    std::vector<std::string> out;
    for (const sharding::Split& split : dim) {
        for (const int axis : split.axes) {
            out.push_back(mesh.axes[static_cast<std::size_t>(axis)].name);
        }
    }
    return out;
}

/// What the tensor's spec says now, by whatever says it.
ir::Spec specOf(const plan::StateSlot& slot, const Placement& placement) {
    const auto* own = overrideOf(slot, placement);
    ir::Spec out =
        own != nullptr ? own->second : sharding::to_spec(asked(slot, placement), placement.mesh);
    out.dims.resize(static_cast<std::size_t>(slot.whole.shape.rank()));
    return out;
}

ir::Spec trimmed(ir::Spec spec) {
    while (!spec.dims.empty() && spec.dims.back().empty()) {
        spec.dims.pop_back();
    }
    return spec;
}

/// The rule for a dimension with one more axis, or with none.
sharding::Rule ruleWith(const plan::StateSlot& slot, const Placement& placement, int dim,
                        const std::string& axis) {
    sharding::Rule rule{logicalOf(slot, dim).name, {}};
    if (!axis.empty()) {
        const Sharding now = asked(slot, placement);
        rule.axes = namesOf(now.dims[static_cast<std::size_t>(dim)], placement.mesh);
        rule.axes.push_back(axis);
    }
    return rule;
}

Placement placementWith(const plan::StateSlot& slot, Placement placement, int dim,
                        const std::string& axis, SplitScope scope) {
    if (scope == SplitScope::Tensor) {
        ir::Spec spec = specOf(slot, placement);
        spec.dims[static_cast<std::size_t>(dim)].push_back(axis);
        placement.specs.insert(placement.specs.begin(), {slot.name, std::move(spec)});
    } else {
        placement.rules.insert(placement.rules.begin(), ruleWith(slot, placement, dim, axis));
        std::erase_if(placement.specs, [&](const auto& entry) { return entry.first == slot.name; });
    }
    return placement;
}

/// Sets the override of a tensor, ahead of patterns that match it too. One that says what the rest
/// of the configuration says goes instead.
std::vector<std::string> withOverride(const compile::RunConfig& config, const plan::StateSlot& slot,
                                      const ir::Spec& spec) {
    Placement rest = placementFor(slot, config);
    std::erase_if(rest.specs, [&](const auto& entry) { return entry.first == slot.name; });
    const bool same = trimmed(spec) == trimmed(specOf(slot, rest));
    const std::string text = ir::to_text(trimmed(spec));
    std::vector<SpecEntry> entries = specEntries(config);
    const auto own = std::ranges::find(entries, slot.name, &SpecEntry::pattern);
    const auto first = std::ranges::find_if(
        entries, [&](const SpecEntry& entry) { return glob_match(entry.pattern, slot.name); });
    if (own != entries.end() && (same || own != first)) {
        const bool ahead = own == first;
        entries.erase(own);
        if (!same && !ahead) {
            entries.insert(std::ranges::find_if(entries,
                                                [&](const SpecEntry& entry) {
                                                    return glob_match(entry.pattern, slot.name);
                                                }),
                           {slot.name, text});
        }
    } else if (own != entries.end()) {
        own->spec = text;
    } else if (!same) {
        entries.insert(first, {slot.name, text});
    }
    return {specsAssignment(entries)};
}

QString joined(const std::vector<std::string>& axes) {
    QStringList out;
    for (const std::string& axis : axes) {
        out.append(toQString(axis));
    }
    return out.isEmpty() ? QObject::tr("none") : out.join(QStringLiteral(", "));
}

/// The rules that decide on the tensor's split, in a few words; empty without any.
QString becauseOf(const plan::StateSlot& slot, const Placement& placement, const MeshEdit& edit,
                  bool& own_rule) {
    QStringList out;
    for (int dim = 0; dim < slot.whole.shape.rank(); ++dim) {
        const std::string logical = logicalOf(slot, dim).name;
        for (const EffectiveRule& rule : effectiveRules(edit)) {
            if (rule.covered || logical.empty() || rule.rule.logical != logical ||
                (placement.axes_of(logical).empty() && !rule.own)) {
                continue;
            }
            own_rule |= rule.own;
            const QString words =
                (rule.own ? QObject::tr("rule %1 → %2") : QObject::tr("%3: %1 → %2"))
                    .arg(toQString(logical), joined(rule.rule.axes));
            out.append(rule.own ? words : words.arg(toQString(edit.strategy)));
        }
    }
    out.removeDuplicates();
    return out.join(QStringLiteral(" · "));
}

} // namespace

TensorEdit tensorEdit(const compile::RunConfig& config, const plan::StateSlot& slot) {
    const Placement placement = placementFor(slot, config);
    const sharding::Mesh& mesh = placement.mesh;
    const MeshEdit edit = MeshEdit::of(config);
    const Sharding want = asked(slot, placement);
    const Sharding kept = stored(slot, placement);
    TensorEdit out;
    if (const auto* own = overrideOf(slot, placement)) {
        out.pattern = own->first;
        out.because = own->first == slot.name
                          ? QObject::tr("override")
                          : QObject::tr("override %1").arg(toQString(own->first));
    } else {
        out.because = becauseOf(slot, placement, edit, out.own_rule);
    }
    bool by_zero = false;
    for (int dim = 0; dim < slot.whole.shape.rank(); ++dim) {
        const auto d = static_cast<std::size_t>(dim);
        DimEdit& made = out.dims.emplace_back();
        made.extent = slot.whole.shape[dim];
        made.logical = logicalOf(slot, dim).name;
        const auto rules = effectiveRules(edit);
        const auto rule = std::ranges::find_if(
            rules, [&](const EffectiveRule& one) { return one.rule.logical == made.logical; });
        const bool of_strategy = rule != rules.end() && !rule->own;
        for (const std::string& name : namesOf(kept.dims[d], mesh)) {
            const bool zero = !want.uses(mesh.find(name));
            made.axes.push_back({name, zero                   ? SplitSource::Zero
                                       : !out.pattern.empty() ? SplitSource::Override
                                       : of_strategy          ? SplitSource::Strategy
                                                              : SplitSource::Rule});
            by_zero |= zero;
        }
    }
    if (out.because.isEmpty()) {
        out.because = by_zero ? QObject::tr("ZeRO splits it") : QObject::tr("no rule splits it");
    }
    return out;
}

SplitOutcome splitOutcome(const compile::RunConfig& config, const plan::StateSlot& slot, int dim,
                          const std::string& axis, SplitScope scope) {
    const Placement placement = placementFor(slot, config);
    const sharding::Mesh& mesh = placement.mesh;
    const QString name = toQString(axis);
    const int index = mesh.find(axis);
    const auto refused = [](const QString& why) { return SplitOutcome{false, why, 0}; };
    if (index < 0) {
        return refused(QObject::tr("the mesh has no axis %1").arg(name));
    }
    if (mesh.size(index) == 1) {
        return refused(QObject::tr("%1 has one device and splits nothing").arg(name));
    }
    if (std::ranges::count(placement.axes_of("layers"), index) > 0) {
        return refused(
            QObject::tr("%1 is the pipeline's: its devices hold different layers").arg(name));
    }
    const auto d = static_cast<std::size_t>(dim);
    const Sharding now = asked(slot, placement);
    for (std::size_t other = 0; other < now.dims.size(); ++other) {
        const auto names = namesOf(now.dims[other], mesh);
        if (std::ranges::count(names, axis) > 0) {
            return refused(
                other == d ? QObject::tr("%1 splits this dimension already").arg(name)
                           : QObject::tr("%1 already splits dimension %2").arg(name).arg(other));
        }
    }
    const sharding::LogicalAxis logical = logicalOf(slot, dim);
    if (scope == SplitScope::Rule && logical.name.empty()) {
        return refused(QObject::tr("no rule speaks of this dimension"));
    }
    const Placement changed = placementWith(slot, placement, dim, axis, scope);
    const Sharding then = asked(slot, changed);
    const std::int64_t extent = slot.whole.shape[dim];
    if (!then.uses(index)) {
        std::vector<int> axes{index};
        for (const sharding::Split& split : now.dims[d]) {
            axes.insert(axes.end(), split.axes.begin(), split.axes.end());
        }
        const std::int64_t units =
            scope == SplitScope::Rule ? extent / (logical.parts * logical.unit) : extent;
        return refused(
            QObject::tr("%1 cannot be dealt out over %2 devices").arg(units).arg(mesh.size(axes)));
    }
    SplitOutcome out{true, {}, 0};
    out.padding_bytes = sharding::padding_bytes(slot.whole, stored(slot, changed), mesh) -
                        sharding::padding_bytes(slot.whole, stored(slot, placement), mesh);
    const bool batch = std::ranges::count(placement.axes_of("batch"), index) > 0;
    if (out.padding_bytes > 0) {
        out.text = QObject::tr("%1 does not divide: %2 of padding")
                       .arg(extent)
                       .arg(shortMemory(out.padding_bytes));
    } else if (scope == SplitScope::Tensor && logical.parts * logical.unit > 1) {
        out.text = QObject::tr("in plain stretches, not by %1").arg(toQString(logical.name));
    } else if (batch) {
        out.text = QObject::tr("kept in parts, gathered for use");
    }
    return out;
}

std::vector<std::string> withSplit(const compile::RunConfig& config, const plan::StateSlot& slot,
                                   int dim, const std::string& axis, SplitScope scope) {
    const Placement placement = placementFor(slot, config);
    if (scope == SplitScope::Tensor) {
        ir::Spec spec = specOf(slot, placement);
        std::vector<std::string>& own = spec.dims[static_cast<std::size_t>(dim)];
        if (axis.empty()) {
            own.clear();
        } else {
            own.push_back(axis);
        }
        return withOverride(config, slot, spec);
    }
    const sharding::Rule rule = ruleWith(slot, placement, dim, axis);
    MeshEdit edit = withoutRule(MeshEdit::of(config), rule.logical);
    const auto rest = effectiveRules(edit);
    const auto by_strategy = std::ranges::find_if(
        rest, [&](const EffectiveRule& one) { return one.rule.logical == rule.logical; });
    const std::vector<std::string> else_axes =
        by_strategy == rest.end() ? std::vector<std::string>() : by_strategy->rule.axes;
    if (else_axes != rule.axes) {
        edit = withRule(MeshEdit::of(config), rule);
    }
    std::vector<std::string> out{rulesAssignment(edit.rules)};
    std::vector<SpecEntry> entries = specEntries(config);
    if (std::erase_if(entries, [&](const SpecEntry& one) { return one.pattern == slot.name; }) >
        0) {
        out.push_back(specsAssignment(entries));
    }
    return out;
}

std::vector<std::string> withoutSplit(const compile::RunConfig& config, const plan::StateSlot& slot,
                                      int dim, const std::string& axis) {
    ir::Spec spec = specOf(slot, placementFor(slot, config));
    std::erase(spec.dims[static_cast<std::size_t>(dim)], axis);
    return withOverride(config, slot, spec);
}

std::vector<std::string> withoutOverride(const compile::RunConfig& config,
                                         const plan::StateSlot& slot) {
    std::vector<SpecEntry> entries = specEntries(config);
    const auto first = std::ranges::find_if(
        entries, [&](const SpecEntry& entry) { return glob_match(entry.pattern, slot.name); });
    if (first != entries.end()) {
        entries.erase(first);
    }
    return {specsAssignment(entries)};
}

std::vector<std::string> withoutOwnRules(const compile::RunConfig& config,
                                         const plan::StateSlot& slot) {
    MeshEdit edit = MeshEdit::of(config);
    for (int dim = 0; dim < slot.whole.shape.rank(); ++dim) {
        edit = withoutRule(edit, logicalOf(slot, dim).name);
    }
    return {rulesAssignment(edit.rules)};
}

int tensorsWith(const plan::ExecutionPlan& plan, const std::string& logical) {
    return static_cast<int>(std::ranges::count_if(plan.state_slots, [&](const auto& slot) {
        return slot.category == plan::Category::parameters &&
               std::ranges::any_of(slot.logical_axes, [&](const std::string& axis) {
                   return sharding::parse_logical_axis(axis).name == logical;
               });
    }));
}

QString ruleText(const compile::RunConfig& config, const plan::StateSlot& slot, int dim,
                 const std::string& axis) {
    const sharding::Rule rule = ruleWith(slot, placementFor(slot, config), dim, axis);
    return QObject::tr("rule %1 → %2").arg(toQString(rule.logical), joined(rule.axes));
}

std::vector<std::string> logicalAxes(const plan::ExecutionPlan& plan) {
    std::vector<std::string> out;
    for (const plan::StateSlot& slot : plan.state_slots) {
        for (const std::string& text : slot.logical_axes) {
            const std::string name = sharding::parse_logical_axis(text).name;
            if (!name.empty() && std::ranges::count(out, name) == 0) {
                out.push_back(name);
            }
        }
    }
    return out;
}

} // namespace weft::ui
