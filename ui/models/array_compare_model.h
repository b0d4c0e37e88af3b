// SPDX-License-Identifier: GPL-3.0-or-later
// Arrays in which two checkpoints differ, and by how much.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "ui/models/table_model.h"
#include "widgets/look/number_style.h"

#include <array>
#include <vector>

namespace weft::ui {

class ArrayCompareModel : public TableModel<checkpoint::TensorDifference> {
    Q_OBJECT
public:
    enum Column { Name, NormA, NormB, NormDifference, Largest, Relative, ColumnCount };

    explicit ArrayCompareModel(QObject* parent = nullptr);

    void setDifferences(std::vector<checkpoint::TensorDifference> differences);

    QVariant data(const QModelIndex& index, int role) const override;

private:
    std::array<widgets::NumberStyle, ColumnCount> styles_;
};

} // namespace weft::ui
