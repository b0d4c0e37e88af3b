// SPDX-License-Identifier: GPL-3.0-or-later
// The name of a run in the table; beside charts with its eye and the colour of its line before it.
#pragma once

#include <QStyledItemDelegate>

namespace weft::ui {

class RunNameDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    /// Pixels before the name.
    static int room();

signals:
    void eyeClicked(const QModelIndex& index);

protected:
    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                     const QModelIndex& index) override;
};

} // namespace weft::ui
