// SPDX-License-Identifier: GPL-3.0-or-later
// How runs of a table look wherever they are drawn together: colour and dash, whether their eye is
// open, and the groups that a setting parts them into. One legend for the table and all its charts.
#pragma once

#include "core/train/record/run_summary.h"

#include <QMetaType>
#include <QObject>
#include <QString>

#include <map>
#include <set>
#include <vector>

namespace weft::ui {

struct RunLook {
    int slot = 0;
    Qt::PenStyle dash = Qt::SolidLine;
    bool shown = true;
    int group = -1; // -1: runs are in no groups

    friend bool operator==(const RunLook&, const RunLook&) = default;
};

class RunLooks : public QObject {
    Q_OBJECT
public:
    struct Group {
        QString value; // of the setting; empty: the run has none
        RunLook look;
        std::vector<std::size_t> runs; // places in runs()
    };

    using QObject::QObject;

    /// What the table lists; nothing changes where those are as they were. A run keeps its colour
    /// while others come and go.
    void setRuns(std::vector<train::RunSummary> listed);
    const std::vector<train::RunSummary>& runs() const { return runs_; }
    RunLook lookOf(const std::filesystem::path& folder) const;

    bool isShown(const std::filesystem::path& folder) const;
    void setShown(const std::vector<std::filesystem::path>& folders, bool shown);
    /// Closes the eyes of all others that are listed.
    void showOnly(const std::vector<std::filesystem::path>& folders);
    void showAll();
    std::size_t shownCount() const;

    /// The path of a setting; empty: no groups. A group has one colour.
    void setGroupBy(const QString& setting);
    const QString& groupBy() const { return group_by_; }
    /// Numbers in their order, then texts, those without a value last.
    const std::vector<Group>& groups() const { return groups_; }

signals:
    void changed();

private:
    void regroup();

    std::vector<train::RunSummary> runs_;
    std::map<std::string, std::size_t> place_; // by folder, of every run that ever was listed
    std::set<std::string> hidden_;
    QString group_by_;
    std::vector<Group> groups_;
    std::map<std::string, int> group_of_; // by folder
};

} // namespace weft::ui

Q_DECLARE_METATYPE(weft::ui::RunLook)
