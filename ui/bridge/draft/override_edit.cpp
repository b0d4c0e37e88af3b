// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/override_edit.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/ir/text.h"
#include "ui/bridge/convert.h"

#include <QObject>

#include <algorithm>

namespace weft::ui {
namespace {

/// Has every dimension that a spec can name.
const ir::Shape kAnyShape{1, 1, 1, 1, 1, 1, 1, 1};

} // namespace

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

SpecWords::SpecWords(const compile::RunConfig& config, sharding::SpecDialect dialect)
    : dialect_(dialect) {
    const sharding::Placement placement = compile::placement_of(config.section("mesh"));
    const std::vector<int> layers = placement.axes_of("layers");
    mesh_ = placement.mesh;
    stages_ = layers.empty() ? std::nullopt : std::optional(layers.front());
}

ir::Spec SpecWords::read(const std::string& typed) const {
    return sharding::parse_spec_text(typed, mesh_, stages_);
}

QString SpecWords::shown(const std::string& spec) const {
    try {
        const ir::Spec meant = read(spec);
        const bool known = sharding::check_spec(meant, kAnyShape, mesh_).empty();
        return dialect_ == sharding::SpecDialect::jax || !known
                   ? toQString(spec)
                   : toQString(sharding::spec_text(meant, mesh_, dialect_, stages_));
    } catch (const Error&) {
        return toQString(spec);
    }
}

QString SpecWords::example() const {
    return dialect_ == sharding::SpecDialect::jax ? QStringLiteral("P('data', None)")
                                                  : QStringLiteral("[Shard(0), Replicate()]");
}

std::string SpecWords::kept(const std::string& typed) const {
    try {
        return typed.starts_with('[') ? ir::to_text(read(typed)) : typed;
    } catch (const Error&) {
        return typed;
    }
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
    const SpecWords words(config, sharding::SpecDialect::jax);
    const sharding::Mesh& mesh = words.mesh();
    try {
        const ir::Spec spec = words.read(entry.spec);
        for (const plan::StateSlot& slot : plan.state_slots) {
            if (!isEditable(slot) || !glob_match(entry.pattern, slot.name)) {
                continue;
            }
            if (const std::string wrong = sharding::check_spec(spec, slot.whole.shape, mesh);
                !wrong.empty()) {
                return toQString(slot.name + ": " + wrong);
            }
        }
        return toQString(sharding::check_spec(spec, kAnyShape, mesh));
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
