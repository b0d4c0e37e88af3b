// SPDX-License-Identifier: GPL-3.0-or-later
// Which columns the table of runs has: facts, settings and metrics, found by any part of their
// name. What is ticked is shown at once.
#pragma once

#include "ui/models/run_column.h"

#include <QDialog>

class QLineEdit;
class QListWidget;

namespace weft::ui {

class RunsTable;
class RunTableModel;

class ColumnDialog : public QDialog {
    Q_OBJECT
public:
    ColumnDialog(RunsTable& table, const RunTableModel& model, QWidget* parent = nullptr);

private:
    void fill(const RunTableModel& model);
    void addHeading(const QString& text);
    void addColumn(const RunColumn& column, const QString& name);
    void search(const QString& text);
    void apply();

    RunsTable& table_;
    std::vector<RunColumn> columns_; // of the rows of the list; rows of headings have the name's
    QLineEdit* search_;
    QListWidget* list_;
};

} // namespace weft::ui
