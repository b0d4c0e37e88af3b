// SPDX-License-Identifier: GPL-3.0-or-later
// What a checkpoint is to its run, as pills: best, newest, pinned.
#pragma once

#include <QStyledItemDelegate>

namespace weft::ui {

class CheckpointTable;

class BadgeDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    explicit BadgeDelegate(const CheckpointTable& table, QObject* parent = nullptr);

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    const CheckpointTable& table_;
};

} // namespace weft::ui
