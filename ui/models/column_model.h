// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of a table that somebody brings: what is in each, and which are to be predicted.
#pragma once

#include "core/data/recognise.h"

#include <QAbstractTableModel>
#include <QStringList>

namespace weft::ui {

class ColumnModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { NameColumn, KindColumn, MissingColumn, ExampleColumn, ColumnCount };

    explicit ColumnModel(QObject* parent = nullptr);

    /// `targets`: names of those that are predicted.
    void setColumns(std::vector<data::Column> columns, const QStringList& targets);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    /// The user ticked or unticked a column: these are to be predicted now, never none.
    void targetsChosen(const QStringList& names);

private:
    QString display(const data::Column& column, int section) const;

    std::vector<data::Column> columns_;
    QStringList targets_;
};

} // namespace weft::ui
