// SPDX-License-Identifier: GPL-3.0-or-later
// A run in a list of curves, on two lines: an eye that shows or hides it, a piece of its line, name
// and what is special about it, a value at the right with what it measures below. The check state
// is the eye: Space toggles it.
#pragma once

#include <QStyledItemDelegate>

namespace weft::widgets {

class RunRowDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    enum Role { Detail = Qt::UserRole + 1, Value, Measure, Color, Dash, Current, RoleEnd };

    explicit RunRowDelegate(QObject* parent = nullptr);

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

signals:
    /// The piece of line was clicked: choose another colour.
    void colorClicked(const QModelIndex& index, const QPoint& global);

protected:
    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                     const QModelIndex& index) override;
};

} // namespace weft::widgets
