// SPDX-License-Identifier: GPL-3.0-or-later
// The table of runs: its columns are chosen, moved and sized by the user, and remembered.
#pragma once

#include "ui/models/run_table_model.h"

#include <QTableView>

class QMenu;

namespace weft::widgets {
class SparklineDelegate;
class TagDelegate;
} // namespace weft::widgets

namespace weft::ui {

class RunsTable : public QTableView {
    Q_OBJECT
public:
    /// `settings` is the file that remembers the columns.
    RunsTable(RunTableModel& model, RunTableFilter& filtered, std::filesystem::path settings,
              QWidget* parent = nullptr);
    ~RunsTable() override;

    bool isEditing() const;
    /// Which columns there are, and metrics to add.
    void showColumnMenu(const QPoint& at);
    void fillColumnMenu(QMenu& menu);
    /// From left to right, as the user has put them.
    std::vector<RunColumn> visualColumns() const;
    void changeColumns(const std::vector<RunColumn>& columns);

private:
    void addMetricMenu(QMenu& menu);
    void restoreColumns();
    void saveColumns() const;

    RunTableModel& model_;
    RunTableFilter& filtered_;
    std::filesystem::path settings_;
    widgets::SparklineDelegate* curves_;
    widgets::TagDelegate* tags_;
};

} // namespace weft::ui
