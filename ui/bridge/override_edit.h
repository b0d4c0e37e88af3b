// SPDX-License-Identifier: GPL-3.0-or-later
// The overrides of a configuration, "mesh.specs": name patterns and how what they match is split,
// as texts that are checked against a plan's tensors. Pure.
#pragma once

#include "core/compile/run_config.h"
#include "core/plan/plan.h"

#include <QString>

#include <string>
#include <vector>

namespace weft::ui {

/// Whether specs and rules speak of this slot: optimizer state follows its parameter.
bool isEditable(const plan::StateSlot& slot);

/// An override as it stands in the configuration.
struct SpecEntry {
    std::string pattern;
    std::string spec; // JAX text
    friend bool operator==(const SpecEntry&, const SpecEntry&) = default;
};
std::vector<SpecEntry> specEntries(const compile::RunConfig& config);
/// What is wrong with an override for the tensors it matches, in words; empty: nothing.
QString specProblem(const SpecEntry& entry, const compile::RunConfig& config,
                    const plan::ExecutionPlan& plan);
/// Parameters that a pattern matches.
int specMatches(const std::string& pattern, const plan::ExecutionPlan& plan);
/// The assignment of all overrides, in order: the first match counts.
std::string specsAssignment(const std::vector<SpecEntry>& entries);

} // namespace weft::ui
