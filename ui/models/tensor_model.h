// SPDX-License-Identifier: GPL-3.0-or-later
// Tensors alive while an op runs, largest first. Tensors of one kind in layers that repeat are one
// row.
#pragma once

#include "ui/bridge/plan/plan_digest.h"

#include <QAbstractTableModel>

#include <memory>
#include <vector>

namespace weft::ui {

class TensorModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { NameColumn, CountColumn, BytesColumn, LifeColumn, ColumnCount };

    explicit TensorModel(QObject* parent = nullptr);

    /// Null, or an op that there is not: nothing.
    void setContent(std::shared_ptr<const PlanDigest> digest, int op);
    int op() const { return op_; }
    /// Tensors behind the rows, and their bytes together.
    int tensorCount() const { return tensor_count_; }
    std::int64_t totalBytes() const { return total_bytes_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        PlanTensor sum; // bytes of all; first and last of the longest stretch of them
        int count = 0;
    };

    static QString describe(const Row& row);
    QVariant display(const Row& row, int column) const;

    std::shared_ptr<const PlanDigest> digest_;
    int op_ = -1;
    std::vector<Row> rows_;
    int tensor_count_ = 0;
    std::int64_t total_bytes_ = 0;
};

} // namespace weft::ui
