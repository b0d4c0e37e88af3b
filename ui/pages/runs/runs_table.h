// SPDX-License-Identifier: GPL-3.0-or-later
// The table of runs: its columns are chosen, moved and sized by the user, and remembered. Until one
// is sized by hand they fit into the table's width.
#pragma once

#include "ui/models/run_table_filter.h"
#include "ui/models/run_table_model.h"
#include "ui/pages/runs/column_widths.h"

#include <QStyledItemDelegate>
#include <QTableView>

class QMenu;

namespace weft::widgets {
class SparklineDelegate;
class TagDelegate;
} // namespace weft::widgets

namespace weft::ui {

class RunNameDelegate;

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
    /// The usual columns, as wide as they need to be.
    void resetColumns();
    /// Beside charts: names, settings and metrics alone; what was sized by hand comes back after.
    void setNarrow(bool narrow);
    /// What it shows, in its order, as comma-separated values: numbers as they are, in the C
    /// locale.
    std::string csv() const;

signals:
    void eyeClicked(const QModelIndex& index);
    /// Somebody wants all columns to choose from.
    void chooserRequested();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void addMetricMenu(QMenu& menu);
    void restoreColumns();
    void saveColumns() const;
    void restoreWidths();
    bool isLeftOut(const RunColumn& column) const;
    /// Reads anew what the columns need.
    void measureColumns();
    void fitColumns();

    RunTableModel& model_;
    RunTableFilter& filtered_;
    std::filesystem::path settings_;
    widgets::SparklineDelegate* curves_;
    widgets::TagDelegate* tags_;
    QStyledItemDelegate* notes_;
    RunNameDelegate* names_;
    std::vector<ColumnNeed> needs_;
    bool sized_ = false; // a user has sized a column: none is changed any more
    bool fitting_ = false;
    bool narrow_ = false;
};

} // namespace weft::ui
