// SPDX-License-Identifier: GPL-3.0-or-later
// A row of a table, column by column, to be written by hand: a cell is a text as the data's files
// have it, empty where a value is missing.
#pragma once

#include "core/data/tables/written_row.h"

#include <QAbstractTableModel>
#include <QStringList>

namespace weft::ui {

class WrittenRowModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { NameColumn, ValueColumn, ColumnCount };

    explicit WrittenRowModel(QObject* parent = nullptr);

    /// All cells are then empty.
    void setColumns(std::vector<data::InputColumn> columns);
    const data::InputColumn& column(int row) const {
        return columns_[static_cast<std::size_t>(row)];
    }
    const std::vector<std::string>& cells() const { return cells_; }
    void setCells(std::vector<std::string> cells);
    void clear();
    /// Nothing is written anywhere.
    bool isBlank() const;
    /// What stands where a value is missing: "missing, 109,3 for it".
    QString placeholder(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    /// The user wrote in a cell; setCells and clear say nothing.
    void edited();

private:
    QString textOf(int row) const;

    std::vector<data::InputColumn> columns_;
    std::vector<std::string> cells_;
};

} // namespace weft::ui
