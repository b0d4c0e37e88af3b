// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/run_facts.h"

#include "core/compile/config/run_config.h"
#include "ui/bridge/convert.h"
#include "ui/forms/number_text.h"
#include "widgets/curves/series_store.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace weft::ui {
namespace {

using config::Json;
using widgets::Role;

using Leaves = std::vector<std::pair<std::string, const Json*>>;

/// Every value of a configuration under its path; lists are values as a whole.
void collectLeaves(const Json& value, const std::string& path, Leaves& out) {
    if (!value.is_object() || value.empty()) {
        out.emplace_back(path, &value);
        return;
    }
    for (const auto& [key, entry] : value.items()) {
        const bool said_elsewhere = path.empty() && (key == "name" || key == "notes" ||
                                                     key == "tags" || key == "schema_version");
        if (!said_elsewhere) {
            collectLeaves(entry, path.empty() ? key : path + "." + key, out);
        }
    }
}

/// With the defaults of fields that were not there yet when the run began; as it is where that
/// cannot be told.
Json completed(const Json& config) {
    config::Checked read = config::check_fields(config, compile::run_config_table());
    return read.ok() ? std::move(read.value) : config;
}

void fill_numbers(VaryingSetting& setting, const std::vector<const Json*>& values) {
    const bool numeric = std::all_of(values.begin(), values.end(), [](const Json* value) {
        return value == nullptr || value->is_number();
    });
    for (std::size_t i = 0; numeric && i < values.size(); ++i) {
        setting.numbers.push_back(values[i] == nullptr ? std::nullopt
                                                       : std::optional(values[i]->get<double>()));
    }
}

} // namespace

QString nameOf(const train::RunSummary& run) {
    return run.source == train::RunSource::tensorboard ? toQString(run.info.name)
                                                       : runTitle(run.folder);
}

QString sourceName(train::RunSource source) {
    switch (source) {
    case train::RunSource::weft: return {};
    case train::RunSource::events: return QObject::tr("event log of another program");
    case train::RunSource::tensorboard: return QObject::tr("TensorBoard event files");
    }
    return {};
}

StateLook stateLook(const std::string& state) {
    if (state == "finished") {
        return {QObject::tr("finished"), Role::Success};
    }
    if (state == "failed") {
        return {QObject::tr("failed"), Role::Error};
    }
    if (state == "interrupted") {
        return {QObject::tr("interrupted"), Role::Warning};
    }
    if (state == "stopped") {
        return {QObject::tr("stopped"), Role::Muted};
    }
    if (state == "recorded") {
        return {QObject::tr("recorded"), Role::Muted};
    }
    if (state == "writing") {
        return {QObject::tr("being written"), Role::Accent};
    }
    return {toQString(state), Role::Accent};
}

widgets::SparklineData sparklineOf(const train::RunSummary& run) {
    widgets::SparklineData data;
    data.y.reserve(run.loss_curve.size());
    for (const auto& [step, loss] : run.loss_curve) {
        data.y.push_back(loss);
        if (run.best_step >= 0 && step <= static_cast<double>(run.best_step)) {
            data.best = static_cast<int>(data.y.size()) - 1;
        }
    }
    data.y = widgets::smoothed(std::move(data.y), widgets::SeriesStore::kUsualSmoothing);
    data.failed = run.state == "failed";
    data.share =
        run.total_steps > 0
            ? std::clamp(static_cast<double>(run.step) / static_cast<double>(run.total_steps), 0.1,
                         1.0)
            : 1.0;
    return data;
}

ComparedLine comparedLine(std::size_t position) {
    constexpr std::size_t kColours = 8;
    return {static_cast<int>(position % kColours),
            widgets::seriesDash(static_cast<int>(position / kColours))};
}

bool isBeingWritten(const train::RunSummary& run) {
    return stateLook(run.state).role == Role::Accent;
}

std::vector<VaryingSetting> varyingSettings(std::span<const train::RunSummary* const> runs) {
    std::vector<const Json*> configs;
    for (const train::RunSummary* run : runs) {
        configs.push_back(&run->config);
    }
    return varyingSettings(configs);
}

std::vector<VaryingSetting> varyingSettings(std::span<const config::Json* const> configs) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<const Json*>> values;
    std::vector<Json> whole;
    std::transform(configs.begin(), configs.end(), std::back_inserter(whole),
                   [](const Json* config) { return completed(*config); });
    for (std::size_t i = 0; i < configs.size(); ++i) {
        Leaves leaves;
        if (whole[i].is_object()) {
            collectLeaves(whole[i], {}, leaves);
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
        const std::vector<const Json*>& row = values[path];
        // What is left to its default is none, as what another type does not have.
        const auto given = [](const Json* value) { return value != nullptr && !value->is_null(); };
        const bool same = std::all_of(row.begin(), row.end(), [&](const Json* value) {
            return given(value) == given(row[0]) && (!given(value) || *value == *row[0]);
        });
        if (same) {
            continue;
        }
        VaryingSetting& setting = out.emplace_back();
        setting.path = toQString(path);
        for (const Json* value : row) {
            setting.values.push_back(value != nullptr ? settingText(*value) : QString());
        }
        fill_numbers(setting, row);
    }
    return out;
}

} // namespace weft::ui
