// SPDX-License-Identifier: Apache-2.0
#include "core/compare/settings.h"

#include "core/compile/config/run_config.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace weft::compare {
namespace {

using config::Json;

using Leaves = std::vector<std::pair<std::string, const Json*>>;

/// Every value of a configuration under its path; lists are values as a whole.
void collect_leaves(const Json& value, const std::string& path, Leaves& out) {
    if (!value.is_object() || value.empty()) {
        out.emplace_back(path, &value);
        return;
    }
    for (const auto& [key, entry] : value.items()) {
        const bool said_elsewhere = path.empty() && (key == "name" || key == "notes" ||
                                                     key == "tags" || key == "schema_version");
        if (!said_elsewhere) {
            collect_leaves(entry, path.empty() ? key : path + "." + key, out);
        }
    }
}

/// As it is where the defaults cannot be told.
Json completed(const Json& config) {
    config::Checked read = config::check_fields(config, compile::run_config_table());
    return read.ok() ? std::move(read.value) : config;
}

// What is left to its default is none, as what another type does not have.
bool is_given(const Json* value) {
    return value != nullptr && !value->is_null();
}

} // namespace

std::vector<double> VaryingSetting::numbers() const {
    std::vector<double> out;
    for (const std::optional<Json>& value : values) {
        out.push_back(value && value->is_number() ? value->get<double>()
                                                  : std::numeric_limits<double>::quiet_NaN());
    }
    return out;
}

std::vector<std::string> VaryingSetting::texts() const {
    std::vector<std::string> out;
    for (const std::optional<Json>& value : values) {
        out.push_back(is_given(value ? &*value : nullptr) ? value_text(*value) : std::string());
    }
    return out;
}

std::string value_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<VaryingSetting> varying_settings(std::span<const Json* const> configs) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<const Json*>> values;
    std::vector<Json> whole;
    std::transform(configs.begin(), configs.end(), std::back_inserter(whole),
                   [](const Json* config) { return completed(*config); });
    for (std::size_t i = 0; i < configs.size(); ++i) {
        Leaves leaves;
        if (whole[i].is_object()) {
            collect_leaves(whole[i], {}, leaves);
        }
        for (const auto& [path, value] : leaves) {
            auto [row, added] = values.try_emplace(path);
            if (added) {
                order.push_back(path);
            }
            row->second.resize(configs.size());
            row->second[i] = value;
        }
    }
    std::vector<VaryingSetting> out;
    for (const std::string& path : order) {
        std::vector<const Json*>& row = values[path];
        row.resize(configs.size());
        const bool same = std::all_of(row.begin(), row.end(), [&](const Json* value) {
            return is_given(value) == is_given(row[0]) && (!is_given(value) || *value == *row[0]);
        });
        if (same) {
            continue;
        }
        VaryingSetting& setting = out.emplace_back();
        setting.path = path;
        setting.numeric = std::all_of(row.begin(), row.end(), [](const Json* value) {
            return value == nullptr || value->is_number();
        });
        for (const Json* value : row) {
            setting.values.push_back(value != nullptr ? std::optional(*value) : std::nullopt);
        }
    }
    return out;
}

} // namespace weft::compare
