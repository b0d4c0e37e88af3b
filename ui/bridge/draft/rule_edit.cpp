// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/rule_edit.h"

#include "core/sharding/strategies/strategy_list.h"

#include <algorithm>

namespace weft::ui {

using config::Json;

std::vector<EffectiveRule> effectiveRules(const MeshEdit& edit) {
    std::vector<EffectiveRule> out;
    const auto add = [&](const sharding::Rule& rule, bool own) {
        const bool covered = std::ranges::any_of(out, [&](const EffectiveRule& earlier) {
            return earlier.rule.logical == rule.logical;
        });
        out.push_back({rule, own, covered});
    };
    for (const sharding::Rule& rule : edit.rules) {
        add(rule, true);
    }
    if (const sharding::StrategyDef* def = sharding::find_strategy(edit.strategy)) {
        for (const sharding::Rule& rule : def->rules) {
            add(rule, false);
        }
    }
    return out;
}

MeshEdit withRule(const MeshEdit& edit, const sharding::Rule& rule) {
    MeshEdit out = edit;
    const auto found = std::ranges::find(out.rules, rule.logical, &sharding::Rule::logical);
    if (found == out.rules.end()) {
        out.rules.push_back(rule);
    } else {
        *found = rule;
    }
    return out;
}

MeshEdit withoutRule(const MeshEdit& edit, const std::string& logical) {
    MeshEdit out = edit;
    std::erase_if(out.rules, [&](const sharding::Rule& rule) { return rule.logical == logical; });
    return out;
}

MeshEdit withRuleMoved(const MeshEdit& edit, std::size_t from, std::size_t to) {
    MeshEdit out = edit;
    const sharding::Rule moved = out.rules.at(from);
    out.rules.erase(out.rules.begin() + static_cast<std::ptrdiff_t>(from));
    out.rules.insert(
        out.rules.begin() + static_cast<std::ptrdiff_t>(std::min(to, out.rules.size())), moved);
    return out;
}

MeshEdit asCustom(const MeshEdit& edit) {
    MeshEdit out = edit;
    const sharding::StrategyDef* own = sharding::find_strategy(edit.strategy);
    if (own == nullptr || own == &sharding::kCustom) {
        return out;
    }
    out.strategy = sharding::kCustom.name;
    out.zero_stage = std::max(edit.zero_stage, own->zero_stage);
    out.rules.clear();
    for (const EffectiveRule& rule : effectiveRules(edit)) {
        if (!rule.covered) {
            out.rules.push_back(rule.rule);
        }
    }
    out.rules = fittingRules(out); // a strategy may speak of axes that this mesh does without
    return out;
}

std::vector<sharding::Rule> fittingRules(const MeshEdit& edit) {
    std::vector<sharding::Rule> out;
    for (sharding::Rule rule : edit.rules) {
        const bool none = rule.axes.empty();
        std::erase_if(rule.axes, [&](const std::string& name) {
            return std::ranges::find(edit.axes, name, &MeshAxis::name) == edit.axes.end();
        });
        if (none || !rule.axes.empty()) {
            out.push_back(std::move(rule));
        }
    }
    return out;
}

Json jsonOf(const std::vector<sharding::Rule>& rules) {
    Json out = Json::array();
    for (const sharding::Rule& rule : rules) {
        out.push_back(Json::array({rule.logical, rule.axes.empty()       ? Json(nullptr)
                                                 : rule.axes.size() == 1 ? Json(rule.axes.front())
                                                                         : Json(rule.axes)}));
    }
    return out;
}

std::string rulesAssignment(const std::vector<sharding::Rule>& rules) {
    return "mesh.rules=" + jsonOf(rules).dump();
}

} // namespace weft::ui
