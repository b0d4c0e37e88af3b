// SPDX-License-Identifier: GPL-3.0-or-later
// The arrays of a checkpoint that another mesh reads, and what each of its devices reads.
#pragma once

#include "ui/bridge/plan/reshard_map.h"
#include "ui/models/table_model.h"

namespace weft::ui {

/// Largest first.
class ReshardModel : public TableModel<ReshardRow> {
    Q_OBJECT
public:
    enum Column { NameColumn, KindColumn, BytesColumn, ColumnCount };

    explicit ReshardModel(QObject* parent = nullptr);

    void setRows(std::vector<ReshardRow> rows);
};

struct ReaderRow {
    std::vector<int> devices;
    ReshardReader each;
};

/// Devices that read as much as each other stand together.
class ReaderModel : public TableModel<ReaderRow> {
    Q_OBJECT
public:
    enum Column { DeviceColumn, ReadColumn, CrossingColumn, PiecesColumn, ColumnCount };

    explicit ReaderModel(QObject* parent = nullptr);

    void setReaders(const std::vector<ReshardReader>& readers);
};

/// "cut anew"
QString reshardKindText(ReshardKind kind);

} // namespace weft::ui
