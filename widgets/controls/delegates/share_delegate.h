// SPDX-License-Identifier: GPL-3.0-or-later
// A share as a bar with its figure at the right, for a column of a table.
#pragma once

#include <QStyledItemDelegate>

namespace weft::widgets {

class ShareDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    /// The share, 0 to 1, is found under `role`; the figure is the display text. The bar of `full`
    /// fills the room.
    explicit ShareDelegate(int role, QObject* parent = nullptr);
    void setFull(double share) { full_ = share; }
    /// A line in the bar at another share, found under this role; none where that is 0.
    void setMarkRole(int role) { mark_role_ = role; }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;

private:
    int role_;
    int mark_role_ = -1;
    double full_ = 1.0;
};

} // namespace weft::widgets
