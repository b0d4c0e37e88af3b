// SPDX-License-Identifier: GPL-3.0-or-later
// Short names of a table's cell as small bordered tags: "data", "model"; "+1" where there is no
// room for the last.
#pragma once

#include <QStyledItemDelegate>

namespace weft::widgets {

class TagDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    /// The names are found under `role` as a QStringList; the display text is for sorting, search
    /// and screen readers.
    explicit TagDelegate(int role, QObject* parent = nullptr);

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;

private:
    int role_;
};

} // namespace weft::widgets
