// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/wall/run_settings.h"

#include "ui/bridge/convert.h"

#include <algorithm>

namespace weft::ui {

// A configuration is frozen: the same runs have the same settings.
void RunSettings::setRuns(const std::vector<train::RunSummary>& runs) {
    std::vector<std::filesystem::path> folders;
    for (const train::RunSummary& run : runs) {
        folders.push_back(run.folder);
    }
    if (folders == asked_) {
        return;
    }
    asked_ = folders;
    auto configs = std::make_shared<std::vector<config::Json>>();
    for (const train::RunSummary& run : runs) {
        configs->push_back(run.config);
    }
    job_.start(
        [configs](const std::stop_token&) {
            std::vector<const config::Json*> pointers;
            for (const config::Json& config : *configs) {
                pointers.push_back(&config);
            }
            return compare::varying_settings(pointers);
        },
        [this, folders](std::vector<compare::VaryingSetting> found) {
            folders_ = folders;
            settings_ = std::move(found);
            emit changed();
        });
}

QStringList RunSettings::paths() const {
    QStringList out;
    for (const compare::VaryingSetting& setting : settings_) {
        out << toQString(setting.path);
    }
    return out;
}

const compare::VaryingSetting* RunSettings::find(const QString& path) const {
    const std::string name = path.toStdString();
    const auto found = std::find_if(settings_.begin(), settings_.end(),
                                    [&](const auto& setting) { return setting.path == name; });
    return found == settings_.end() ? nullptr : &*found;
}

QString RunSettings::shortName(const QString& path) const {
    const QStringList all = paths();
    for (int parts = 1;; ++parts) {
        const QString name = path.section('.', -parts);
        const auto alike = std::count_if(all.begin(), all.end(), [&](const QString& other) {
            return other.section('.', -parts) == name;
        });
        if (alike < 2 || name == path) {
            return name;
        }
    }
}

} // namespace weft::ui
