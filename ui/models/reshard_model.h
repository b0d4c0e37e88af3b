// SPDX-License-Identifier: GPL-3.0-or-later
// The arrays of a checkpoint that another mesh reads, and what each of its devices reads.
#pragma once

#include "ui/bridge/plan/reshard_map.h"

#include <QAbstractTableModel>

namespace weft::ui {

/// Largest first.
class ReshardModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { NameColumn, KindColumn, BytesColumn, ColumnCount };
    /// Value to sort by: text or number, as the column holds.
    static constexpr int kSortRole = Qt::UserRole;

    explicit ReshardModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void setRows(std::vector<ReshardRow> rows);
    const ReshardRow& row(int index) const { return rows_[static_cast<std::size_t>(index)]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QVariant display(const ReshardRow& row, int column) const;

    std::vector<ReshardRow> rows_;
};

/// Devices that read as much as each other stand together.
class ReaderModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { DeviceColumn, ReadColumn, CrossingColumn, PiecesColumn, ColumnCount };

    explicit ReaderModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void setReaders(const std::vector<ReshardReader>& readers);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        std::vector<int> devices;
        ReshardReader each;
    };
    std::vector<Row> rows_;
};

/// "cut anew"
QString reshardKindText(ReshardKind kind);

} // namespace weft::ui
