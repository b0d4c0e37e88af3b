// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of a mesh as something to edit: the draft's own before those of its strategy. Pure.
#pragma once

#include "ui/bridge/draft/mesh_edit.h"

#include <string>
#include <vector>

namespace weft::ui {

/// A rule in effect.
struct EffectiveRule {
    sharding::Rule rule;
    bool own = false;     // of the draft, else of the strategy
    bool covered = false; // an earlier one for the same logical axis counts
};
std::vector<EffectiveRule> effectiveRules(const MeshEdit& edit);
/// The draft's own rule for a logical axis, changed in its place or added behind the others.
MeshEdit withRule(const MeshEdit& edit, const sharding::Rule& rule);
/// Takes the draft's own rules for a logical axis away: the strategy's counts again.
MeshEdit withoutRule(const MeshEdit& edit, const std::string& logical);
/// The order of the draft's own rules.
MeshEdit withRuleMoved(const MeshEdit& edit, std::size_t from, std::size_t to);
/// The same rules, all of them written out as the draft's own.
MeshEdit asCustom(const MeshEdit& edit);
/// The draft's own rules without the names of axes that its mesh lacks; one that loses all of them
/// goes.
std::vector<sharding::Rule> fittingRules(const MeshEdit& edit);
/// As they stand in a configuration, and the assignment of them: "mesh.rules=[...]".
config::Json jsonOf(const std::vector<sharding::Rule>& rules);
std::string rulesAssignment(const std::vector<sharding::Rule>& rules);

} // namespace weft::ui
