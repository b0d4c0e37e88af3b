// SPDX-License-Identifier: Apache-2.0
// Parameter groups: which settings an optimizer uses for which parameter. The first group whose
// pattern matches the parameter's name wins; what it leaves null comes from the optimizer itself,
// and where it has another type that has settings of its own, from that type's defaults.
#pragma once

#include "core/optim/optimizer_list.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::optim {

/// One set of parameters with the same settings.
struct Group {
    std::string match;           // glob over parameter names
    const OptimizerDef* optimizer = nullptr;
    config::Json settings;       // of `optimizer`, every field there
    double learning_rate = 0;    // base rate of this group
    config::Json lr_schedule;    // null: the run's schedule
    bool decays_all = false; // its weight decay pulls every parameter, not only those that multiply
};

/// The groups of a normalised "optimizer" section in order; the last one matches everything.
std::vector<Group> resolve_groups(const config::Json& optimizer);

/// Index of the first group that matches.
std::size_t group_of(const std::vector<Group>& groups, std::string_view parameter);

/// Rules of a table-checked "optimizer" section: the optimizer's own, and those of its groups (fields
/// that belong to the group's type, patterns that can match).
void check_optimizer(const config::Json& optimizer, const std::string& pointer,
                  config::Diagnostics& out);

} // namespace weft::optim
