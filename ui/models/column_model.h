// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of a table that somebody brings: what is in each, and which are to be predicted.
#pragma once

#include "core/data/recognise.h"
#include "ui/models/table_model.h"

#include <QStringList>

namespace weft::ui {

class ColumnModel : public TableModel<data::Column> {
    Q_OBJECT
public:
    enum Column { NameColumn, KindColumn, MissingColumn, ExampleColumn, ColumnCount };

    explicit ColumnModel(QObject* parent = nullptr);

    /// `targets`: names of those that are predicted.
    void setColumns(std::vector<data::Column> columns, const QStringList& targets);

    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

signals:
    /// The user ticked or unticked a column: these are to be predicted now, never none.
    void targetsChosen(const QStringList& names);

private:
    QStringList targets_;
};

} // namespace weft::ui
