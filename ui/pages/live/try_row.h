// SPDX-License-Identifier: GPL-3.0-or-later
// A row of a table to write by hand: a field per column, a list of the known texts where it has
// categories. Arrow keys go along the columns, typing or Return begins a value, Tab ends it and
// goes to the next.
#pragma once

#include "ui/models/written_row_model.h"

#include <QTableView>

namespace weft::ui {

class TryRow : public QTableView {
    Q_OBJECT
public:
    explicit TryRow(QWidget* parent = nullptr);

    WrittenRowModel& row() { return *model_; }
    const WrittenRowModel& row() const { return *model_; }
    void setColumns(std::vector<data::InputColumn> columns);

protected:
    QModelIndex moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) override;
    void focusInEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void begin(const QModelIndex& index);
    /// From the value that was written to the next or the one before; past the ends to what is
    /// around the table.
    void leave(int direction);
    void fitHeight();

    WrittenRowModel* model_;
};

} // namespace weft::ui
