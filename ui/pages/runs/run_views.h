// SPDX-License-Identifier: GPL-3.0-or-later
// Saved views of the Runs page: which runs, grouped by what, with which columns and charts, under a
// name. Kept in a file that several studios may write.
#pragma once

#include "ui/pages/runs/wall/wall_panel.h"

#include <filesystem>

namespace weft::ui {

struct RunView {
    QString name;
    QString filter;
    QString group_by;
    QStringList columns; // their ids
    int mode = 0;        // table, charts, report
    WallState wall;

    friend bool operator==(const RunView&, const RunView&) = default;
};

class RunViews {
public:
    explicit RunViews(std::filesystem::path file) : file_(std::move(file)) {}

    /// By name.
    std::vector<RunView> all() const;
    /// In place of one of the same name.
    void save(const RunView& view) const;
    void remove(const QString& name) const;

private:
    std::filesystem::path file_;
};

} // namespace weft::ui
