// SPDX-License-Identifier: GPL-3.0-or-later
// Arrays in which two checkpoints differ, and by how much.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "widgets/look/number_style.h"

#include <QAbstractTableModel>

#include <array>
#include <vector>

namespace weft::ui {

class ArrayDifferenceModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, NormA, NormB, NormDifference, Largest, Relative, ColumnCount };
    static constexpr int kSortRole = Qt::UserRole;

    using QAbstractTableModel::QAbstractTableModel;

    void setDifferences(std::vector<checkpoint::TensorDifference> differences);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<checkpoint::TensorDifference> rows_;
    std::array<widgets::NumberStyle, ColumnCount> styles_;
};

} // namespace weft::ui
