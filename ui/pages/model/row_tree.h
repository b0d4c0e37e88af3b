// SPDX-License-Identifier: GPL-3.0-or-later
// A tree whose rows are put elsewhere by dragging; what that means is the owner's affair.
#pragma once

#include <QTreeWidget>

namespace weft::ui {

class RowTree : public QTreeWidget {
    Q_OBJECT
public:
    explicit RowTree(QWidget* parent = nullptr);

signals:
    /// `row` is to stand in `parent` (null: at the top) before its child `index`.
    void rowMoved(QTreeWidgetItem* row, QTreeWidgetItem* parent, int index);

protected:
    void dropEvent(QDropEvent* event) override;
};

} // namespace weft::ui
