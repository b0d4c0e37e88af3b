// SPDX-License-Identifier: GPL-3.0-or-later
// A mark at the right end of a cell, for rows that something happens to: a ring or a dot.
#pragma once

#include <QStyledItemDelegate>

namespace weft::widgets {

class MarkDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    enum Mark { None, Ring, Dot };

    /// The mark is found under `role`, as a number.
    explicit MarkDelegate(int role, QObject* parent = nullptr);

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;

private:
    int role_;
};

} // namespace weft::widgets
