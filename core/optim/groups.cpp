// SPDX-License-Identifier: Apache-2.0
#include "core/optim/groups.h"

#include "core/base/text.h"

#include <algorithm>

namespace weft::optim {
namespace {

using config::Json;

constexpr const char* kDecayOnAll = "all";

bool in_table(const config::FieldTable& table, std::string_view name) {
    return std::any_of(table.begin(), table.end(),
                       [&](const config::Field& field) { return field.name == name; });
}

const OptimizerDef& optimizer_of(const Json& section, const Json& group) {
    const Json& type = group.at("type").is_null() ? section.at("type") : group.at("type");
    const OptimizerDef* found = find_optimizer(type.get<std::string>());
    WEFT_CHECK(found != nullptr, "the configuration was checked: optimizer type");
    return *found;
}

bool decays_all(const Json& section) {
    return section.at("weight_decay_on") == kDecayOnAll;
}

Group resolved(const Json& section, const Json& group) {
    Group out;
    out.match = group.at("match").get<std::string>();
    out.optimizer = &optimizer_of(section, group);
    out.settings = Json::object();
    for (const config::Field& field : out.optimizer->fields()) {
        const Json& own = group.at(field.name);
        out.settings[field.name] =
            own.is_null() ? section.value(field.name, field.default_value) : own;
    }
    out.decays_all = decays_all(section) || !group.at("weight_decay").is_null();
    const Json& rate = group.at("learning_rate");
    out.learning_rate =
        rate.is_null() ? section.at("learning_rate").get<double>() : rate.get<double>();
    out.lr_schedule = group.at("lr_schedule");
    return out;
}

/// Every optimizer's own fields, each name once, all null until given.
config::FieldTable union_of_fields() {
    config::FieldTable out;
    for (const OptimizerDef* def : kOptimizers) {
        for (config::Field field : def->fields()) {
            if (!in_table(out, field.name)) {
                field.default_value = nullptr;
                field.or_null();
                out.push_back(std::move(field));
            }
        }
    }
    return out;
}

config::Field group_field(const config::Field& lr_schedule) {
    std::vector<std::string> types;
    for (const OptimizerDef* def : kOptimizers) {
        types.emplace_back(def->name);
    }
    config::Field schedule = lr_schedule;
    schedule.default_value = nullptr;
    schedule.or_null();
    config::FieldTable fields = {
        config::text_field("match", nullptr, "Parameter names, * for any run of characters.")
            .must_be_given(),
        config::choice_field("type", nullptr, std::move(types),
                             "Another optimizer; settings that both have are inherited, too.")
            .or_null(),
        config::real_field("learning_rate", nullptr, "Another base rate.").or_null().at_least(0.0),
        std::move(schedule)};
    for (config::Field& field : union_of_fields()) {
        fields.push_back(std::move(field));
    }
    return config::object_field("group", std::move(fields), "Settings for some parameters.");
}

} // namespace

const OptimizerDef* find_optimizer(std::string_view name) {
    const auto found = std::find_if(kOptimizers.begin(), kOptimizers.end(),
                                    [&](const OptimizerDef* def) { return def->name == name; });
    return found == kOptimizers.end() ? nullptr : *found;
}

std::vector<StateArray> arrays_of(const OptimizerDef& optimizer, const Json& settings,
                                  const ir::Shape& parameter) {
    if (optimizer.arrays != nullptr) {
        return optimizer.arrays(settings, parameter);
    }
    std::vector<StateArray> out;
    for (std::string& name : optimizer.state(settings)) {
        out.push_back({std::move(name), parameter});
    }
    return out;
}

config::Field optimizer_field(const config::Field& lr_schedule) {
    std::vector<config::RecordType> records;
    for (const OptimizerDef* def : kOptimizers) {
        config::FieldTable fields = {
            config::real_field("learning_rate", def->default_learning_rate,
                               "Base rate; lr_schedule multiplies it.")
                .above(0.0)};
        for (config::Field& field : def->fields()) {
            fields.push_back(std::move(field));
        }
        fields.push_back(config::choice_field("weight_decay_on", "matrices",
                                              {"matrices", kDecayOnAll},
                                              "What weight_decay pulls: matrices are the weights "
                                              "of products and convolutions, without "
                                              "biases, gains of norms, embeddings and positions. A "
                                              "group's own weight_decay pulls all "
                                              "that it matches."));
        fields.push_back(config::list_field(
            "groups", Json::array(), group_field(lr_schedule),
            "Other settings for some parameters; the first group that matches wins."));
        records.push_back({std::string(def->name), std::string(def->help), std::move(fields)});
    }
    return config::record_field("optimizer", Json{{"type", "adamw"}}, std::move(records),
                                "How gradients change the weights.");
}

std::vector<Group> resolve_groups(const Json& optimizer) {
    std::vector<Group> out;
    for (const Json& group : optimizer.at("groups")) {
        out.push_back(resolved(optimizer, group));
    }
    Group rest;
    rest.match = "*";
    rest.optimizer = find_optimizer(optimizer.at("type").get<std::string>());
    WEFT_CHECK(rest.optimizer != nullptr, "the configuration was checked: optimizer type");
    rest.settings = Json::object();
    for (const config::Field& field : rest.optimizer->fields()) {
        rest.settings[field.name] = optimizer.at(field.name);
    }
    rest.learning_rate = optimizer.at("learning_rate").get<double>();
    rest.decays_all = decays_all(optimizer);
    out.push_back(std::move(rest));
    return out;
}

std::size_t group_of(const std::vector<Group>& groups, std::string_view parameter) {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
        return glob_match(group.match, parameter);
    });
    WEFT_CHECK(found != groups.end(), "the last group matches everything");
    return static_cast<std::size_t>(found - groups.begin());
}

void check_optimizer(const Json& optimizer, const std::string& pointer, config::Diagnostics& out) {
    const OptimizerDef& base = *resolve_groups(optimizer).back().optimizer;
    const std::size_t before = out.size();
    if (base.check != nullptr) {
        base.check(optimizer, pointer, out);
    }
    const bool base_is_right = out.size() == before;
    const auto report = [&](std::string at, std::string message, std::string hint) {
        out.push_back({std::move(at), config::Severity::error, std::move(message), std::move(hint)});
    };
    const config::FieldTable every_field = union_of_fields();
    const Json& groups = optimizer.at("groups");
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::string at = pointer + "/groups/" + std::to_string(i);
        const OptimizerDef& def = optimizer_of(optimizer, groups[i]);
        const config::FieldTable own = def.fields();
        // A group of the same type inherits what is wrong already.
        bool fits = base_is_right || &def != &base;
        for (const config::Field& field : every_field) {
            if (!groups[i].at(field.name).is_null() && !in_table(own, field.name)) {
                report(at + "/" + field.name,
                       "optimizer " + std::string(def.name) + " has no '" + field.name + "'",
                       "Remove it, or set the group's type to an optimizer that has it.");
                fits = false;
            }
        }
        if (groups[i].at("match").get_ref<const std::string&>().empty()) {
            report(at + "/match", "an empty pattern matches no parameter",
                   "Write a name pattern such as \"*.bias\".");
        }
        if (fits && def.check != nullptr) {
            def.check(resolved(optimizer, groups[i]).settings, at, out);
        }
    }
}

} // namespace weft::optim
