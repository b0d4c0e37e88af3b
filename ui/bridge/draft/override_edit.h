// SPDX-License-Identifier: GPL-3.0-or-later
// The overrides of a configuration, "mesh.specs": name patterns and how what they match is split,
// as texts that are checked against a plan's tensors. Pure.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/plan/plan.h"
#include "core/sharding/spec_text.h"

#include <QString>

#include <optional>
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
/// How the specs of a configuration's mesh are written for people, and what they mean.
class SpecWords {
public:
    SpecWords(const compile::RunConfig& config, sharding::SpecDialect dialect);
    /// In the dialect; a text that is no spec stays as it is.
    QString shown(const std::string& spec) const;
    /// In JAX's words, from either dialect; what is no spec stays as it is.
    std::string kept(const std::string& typed) const;
    /// Throws weft::Error.
    ir::Spec read(const std::string& typed) const;
    const sharding::Mesh& mesh() const { return mesh_; }
    /// "P('data', None)"
    QString example() const;

private:
    sharding::SpecDialect dialect_;
    sharding::Mesh mesh_;
    std::optional<int> stages_; // axis of the pipeline
};
/// What is wrong with an override, in either dialect, for the tensors it matches, in words; empty:
/// nothing.
QString specProblem(const SpecEntry& entry, const compile::RunConfig& config,
                    const plan::ExecutionPlan& plan);
/// Parameters that a pattern matches.
int specMatches(const std::string& pattern, const plan::ExecutionPlan& plan);
/// The assignment of all overrides, in order: the first match counts.
std::string specsAssignment(const std::vector<SpecEntry>& entries);

} // namespace weft::ui
