// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/override_edit.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compile/mesh_config.h"
#include "core/ir/text.h"
#include "ui/bridge/convert.h"

#include <QObject>

#include <algorithm>

namespace weft::ui {

bool isEditable(const plan::StateSlot& slot) {
    return slot.name.find('/') == std::string::npos && slot.whole.shape.rank() > 0;
}

std::vector<SpecEntry> specEntries(const compile::RunConfig& config) {
    std::vector<SpecEntry> out;
    for (const auto& [pattern, text] : config.section("mesh").at("specs").items()) {
        out.push_back({pattern, text.get<std::string>()});
    }
    return out;
}

int specMatches(const std::string& pattern, const plan::ExecutionPlan& plan) {
    return static_cast<int>(std::ranges::count_if(plan.state_slots, [&](const auto& slot) {
        return slot.category == plan::Category::parameters && glob_match(pattern, slot.name);
    }));
}

QString specProblem(const SpecEntry& entry, const compile::RunConfig& config,
                    const plan::ExecutionPlan& plan) {
    if (entry.pattern.empty()) {
        return QObject::tr("Name a tensor; * stands for anything.");
    }
    const sharding::Mesh mesh = compile::placement_of(config.section("mesh")).mesh;
    try {
        const ir::Spec spec = ir::parse_spec(entry.spec);
        for (const plan::StateSlot& slot : plan.state_slots) {
            if (!isEditable(slot) || !glob_match(entry.pattern, slot.name)) {
                continue;
            }
            if (const std::string wrong = sharding::check_spec(spec, slot.whole.shape, mesh);
                !wrong.empty()) {
                return toQString(slot.name + ": " + wrong);
            }
        }
        const ir::Shape any(std::vector<std::int64_t>(ir::Shape::kMaxRank, 1));
        return toQString(sharding::check_spec(spec, any, mesh));
    } catch (const Error& fault) {
        return toQString(fault.text());
    }
}

std::string specsAssignment(const std::vector<SpecEntry>& entries) {
    config::Json out = config::Json::object();
    for (const SpecEntry& entry : entries) {
        out[entry.pattern] = entry.spec;
    }
    return "mesh.specs=" + out.dump();
}

} // namespace weft::ui
