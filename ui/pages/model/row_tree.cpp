// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/model/row_tree.h"

#include <QDropEvent>

namespace weft::ui {

RowTree::RowTree(QWidget* parent) : QTreeWidget(parent) {
    setDragDropMode(QAbstractItemView::InternalMove);
    setDefaultDropAction(Qt::MoveAction);
}

// The rows follow the model; they are not moved here.
void RowTree::dropEvent(QDropEvent* event) {
    QTreeWidgetItem* row = currentItem();
    QTreeWidgetItem* target = itemAt(event->position().toPoint());
    const DropIndicatorPosition where = dropIndicatorPosition();
    event->setDropAction(Qt::IgnoreAction); // or the view would take the row away
    event->accept();
    setState(NoState);
    viewport()->update(); // where the row would have come to is marked no more
    if (row == nullptr || row == target || topLevelItem(0) == nullptr) {
        return;
    }
    if (target == nullptr) { // below all
        emit rowMoved(row, topLevelItem(0), topLevelItem(0)->childCount());
        return;
    }
    if (where == OnItem) {
        emit rowMoved(row, target, target->childCount());
        return;
    }
    QTreeWidgetItem* parent = target->parent();
    const int index = parent == nullptr ? 0 : parent->indexOfChild(target);
    if (parent != nullptr) {
        emit rowMoved(row, parent, where == BelowItem ? index + 1 : index);
    }
}

} // namespace weft::ui
