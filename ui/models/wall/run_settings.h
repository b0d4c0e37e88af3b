// SPDX-License-Identifier: GPL-3.0-or-later
// The settings in which the runs of a table differ, found in the background: what they can be
// grouped by, brushed by and explained with.
#pragma once

#include "core/compare/settings.h"
#include "core/train/record/run_summary.h"
#include "ui/bridge/newest_job.h"

#include <QObject>
#include <QStringList>

#include <memory>

namespace weft::ui {

class RunSettings : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// Whose settings are looked at; changed() follows where they are others.
    void setRuns(const std::vector<train::RunSummary>& runs);
    /// Of the runs of folders(), in their order.
    const std::vector<compare::VaryingSetting>& settings() const { return settings_; }
    const std::vector<std::filesystem::path>& folders() const { return folders_; }
    QStringList paths() const;
    /// Null where they do not differ in it.
    const compare::VaryingSetting* find(const QString& path) const;
    /// As much of the end of a path as no other one ends with: "learning_rate", "train.type".
    QString shortName(const QString& path) const;

signals:
    void changed();

private:
    std::vector<std::filesystem::path> asked_;
    std::vector<std::filesystem::path> folders_;
    std::vector<compare::VaryingSetting> settings_;
    NewestJob job_{this};
};

} // namespace weft::ui
