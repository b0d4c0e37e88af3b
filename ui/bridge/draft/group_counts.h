// SPDX-License-Identifier: GPL-3.0-or-later
// Which parameters of a model the optimizer's groups take, by the engine's own matching, and which
// of those that weight decay reaches most recipes leave out.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::ui {

struct GroupCount {
    std::int64_t tensors = 0;
    std::int64_t parameters = 0;
    std::vector<std::string> names; // of the first tensors
};

struct GroupCounts {
    std::vector<GroupCount> groups; // in the draft's order; the last: everything else
    double decay = 0;               // of the parameters named below, the largest
    std::vector<std::string> decayed_embeddings;
    std::vector<std::string> decayed_vectors; // biases, and weights of norms
    bool warns() const { return !decayed_embeddings.empty() || !decayed_vectors.empty(); }
};

GroupCounts countGroups(const compile::RunConfig& config, const plan::ExecutionPlan& plan);

/// What counts for each group, given or inherited: type, learning_rate and the optimizer's
/// settings.
std::vector<config::Json> groupSettings(const compile::RunConfig& config);

/// The "groups" of `config` with those before them that take what is named out of the decay.
config::Json exemptGroups(const compile::RunConfig& config, const GroupCounts& counts);

/// A few patterns that match these names: "blocks.*.norm1.weight".
std::vector<std::string> patternsOf(const std::vector<std::string>& names);

} // namespace weft::ui
