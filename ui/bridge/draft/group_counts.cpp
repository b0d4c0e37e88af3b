// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/group_counts.h"

#include "core/base/text.h"
// Qt's empty keyword; ops::Builder has a function of this name.
#pragma push_macro("emit")
#undef emit
#include "core/optim/groups.h"
#pragma pop_macro("emit")
#include "ui/bridge/convert.h"
#include "ui/bridge/plan/plan_digest.h"

#include <algorithm>

namespace weft::ui {
namespace {

constexpr std::size_t kMostGroupNames = 12;

/// Rows that are looked up: tokens and positions.
bool isEmbedding(const plan::StateSlot& slot) {
    const bool of_tokens = !slot.logical_axes.empty() && slot.logical_axes.front() == "vocab";
    return slot.whole.shape.rank() == 2 &&
           (of_tokens || glob_match("*wpe.*", slot.name) || glob_match("*positions.*", slot.name));
}

} // namespace

GroupCounts countGroups(const compile::RunConfig& config, const plan::ExecutionPlan& plan) {
    const std::vector<optim::Group> groups = optim::resolve_groups(config.section("optimizer"));
    GroupCounts out;
    out.groups.resize(groups.size());
    for (const plan::StateSlot& slot : plan.state_slots) {
        if (slot.category != plan::Category::parameters || !slot.trainable) {
            continue;
        }
        const std::size_t index = optim::group_of(groups, slot.name);
        GroupCount& group = out.groups[index];
        ++group.tensors;
        group.parameters += slot.whole.shape.elements();
        if (group.names.size() < kMostGroupNames) {
            group.names.push_back(slot.name);
        }
        if (slot.weight_decay <= 0) {
            continue;
        }
        const bool embedding = isEmbedding(slot);
        const bool vector = slot.whole.shape.rank() < 2;
        if (embedding || vector) {
            out.decay = std::max(out.decay, slot.weight_decay);
            (embedding ? out.decayed_embeddings : out.decayed_vectors).push_back(slot.name);
        }
    }
    return out;
}

std::vector<config::Json> groupSettings(const compile::RunConfig& config) {
    std::vector<config::Json> out;
    for (const optim::Group& group : optim::resolve_groups(config.section("optimizer"))) {
        config::Json settings = group.settings;
        settings["type"] = std::string(group.optimizer->name);
        settings["learning_rate"] = group.learning_rate;
        out.push_back(std::move(settings));
    }
    return out;
}

std::vector<std::string> patternsOf(const std::vector<std::string>& names) {
    std::vector<std::string> out;
    for (const std::string& name : names) {
        const std::string pattern = name.ends_with(".bias")
                                        ? std::string("*.bias")
                                        : withoutNumbers(toQString(name)).toStdString();
        if (std::find(out.begin(), out.end(), pattern) == out.end()) {
            out.push_back(pattern);
        }
    }
    return out;
}

config::Json exemptGroups(const compile::RunConfig& config, const GroupCounts& counts) {
    config::Json groups = config::Json::array();
    for (const auto* names : {&counts.decayed_embeddings, &counts.decayed_vectors}) {
        for (const std::string& pattern : patternsOf(*names)) {
            groups.push_back({{"match", pattern}, {"weight_decay", 0.0}});
        }
    }
    for (const config::Json& group : config.section("optimizer").at("groups")) {
        config::Json given = config::Json::object(); // without what is null anyway
        for (const auto& [key, value] : group.items()) {
            if (!value.is_null()) {
                given[key] = value;
            }
        }
        groups.push_back(given);
    }
    return groups;
}

} // namespace weft::ui
