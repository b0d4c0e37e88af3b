// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/wall/run_looks.h"

#include "core/train/record/run_filter.h"
#include "ui/bridge/run/run_facts.h"
#include "ui/forms/number_text.h"

#include <algorithm>
#include <limits>

namespace weft::ui {
namespace {

RunLook look_at(std::size_t place) {
    const ComparedLine line = comparedLine(place);
    return {line.slot, line.dash, true, -1};
}

/// Numbers before texts, and nothing last.
struct GroupKey {
    int kind = 0;
    double number = 0;
    QString text;

    bool operator<(const GroupKey& other) const {
        return std::tie(kind, number, text) < std::tie(other.kind, other.number, other.text);
    }
};

GroupKey key_of(const train::RunSummary& run, const std::string& setting) {
    const config::Json* value = train::setting_at(run.config, setting);
    if (value == nullptr || value->is_null()) {
        return {2, 0, {}};
    }
    if (value->is_number()) {
        return {0, value->get<double>(), settingText(*value)};
    }
    return {1, 0, settingText(*value)};
}

} // namespace

void RunLooks::setRuns(std::vector<train::RunSummary> listed) {
    const bool same = std::equal(
        listed.begin(), listed.end(), runs_.begin(), runs_.end(),
        [](const auto& a, const auto& b) { return a.folder == b.folder && a.stamp == b.stamp; });
    if (same) {
        return;
    }
    runs_ = std::move(listed);
    for (const train::RunSummary& run : runs_) {
        place_.try_emplace(run.folder.string(), place_.size());
    }
    regroup();
    emit changed();
}

RunLook RunLooks::lookOf(const std::filesystem::path& folder) const {
    const std::string key = folder.string();
    const auto place = place_.find(key);
    RunLook look = look_at(place == place_.end() ? 0 : place->second);
    const auto group = group_of_.find(key);
    if (group != group_of_.end()) {
        look = groups_[static_cast<std::size_t>(group->second)].look;
        look.group = group->second;
    }
    look.shown = !hidden_.contains(key);
    return look;
}

bool RunLooks::isShown(const std::filesystem::path& folder) const {
    return !hidden_.contains(folder.string());
}

void RunLooks::setShown(const std::vector<std::filesystem::path>& folders, bool shown) {
    for (const std::filesystem::path& folder : folders) {
        if (shown) {
            hidden_.erase(folder.string());
        } else {
            hidden_.insert(folder.string());
        }
    }
    emit changed();
}

void RunLooks::showOnly(const std::vector<std::filesystem::path>& folders) {
    for (const train::RunSummary& run : runs_) {
        hidden_.insert(run.folder.string());
    }
    setShown(folders, true);
}

void RunLooks::showAll() {
    hidden_.clear();
    emit changed();
}

std::size_t RunLooks::shownCount() const {
    return static_cast<std::size_t>(std::count_if(
        runs_.begin(), runs_.end(), [this](const auto& run) { return isShown(run.folder); }));
}

void RunLooks::setGroupBy(const QString& setting) {
    if (setting != group_by_) {
        group_by_ = setting;
        regroup();
        emit changed();
    }
}

void RunLooks::regroup() {
    groups_.clear();
    group_of_.clear();
    if (group_by_.isEmpty()) {
        return;
    }
    std::map<GroupKey, std::vector<std::size_t>> members;
    const std::string setting = group_by_.toStdString();
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        members[key_of(runs_[i], setting)].push_back(i);
    }
    for (const auto& [key, runs] : members) {
        const int number = static_cast<int>(groups_.size());
        for (const std::size_t run : runs) {
            group_of_[runs_[run].folder.string()] = number;
        }
        groups_.push_back({key.text, look_at(groups_.size()), runs});
    }
}

} // namespace weft::ui
