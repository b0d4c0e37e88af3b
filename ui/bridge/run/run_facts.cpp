// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/run_facts.h"

#include "core/compare/settings.h"
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
    std::vector<VaryingSetting> out;
    for (const compare::VaryingSetting& found : compare::varying_settings(configs)) {
        VaryingSetting& setting = out.emplace_back();
        setting.path = toQString(found.path);
        for (const std::optional<Json>& value : found.values) {
            setting.values.push_back(value ? settingText(*value) : QString());
            if (found.numeric) {
                setting.numbers.push_back(value ? std::optional(value->get<double>())
                                                : std::nullopt);
            }
        }
    }
    return out;
}

} // namespace weft::ui
