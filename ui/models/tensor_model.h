// SPDX-License-Identifier: GPL-3.0-or-later
// Tensors alive while an op runs, largest first. Tensors of one kind in layers that repeat are one
// row.
#pragma once

#include "ui/bridge/plan/plan_digest.h"
#include "ui/models/table_model.h"

#include <memory>
#include <vector>

namespace weft::ui {

struct AliveRow {
    PlanTensor sum; // bytes of all; first and last of the longest stretch of them
    int count = 0;
};

class TensorModel : public TableModel<AliveRow> {
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

    QVariant data(const QModelIndex& index, int role) const override;

private:
    std::shared_ptr<const PlanDigest> digest_;
    int op_ = -1;
    int tensor_count_ = 0;
    std::int64_t total_bytes_ = 0;
};

} // namespace weft::ui
