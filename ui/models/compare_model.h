// SPDX-License-Identifier: GPL-3.0-or-later
// Figures of two plans side by side, and the tensors that a device holds otherwise: one row each.
// Which side is better is said by a mark before its figure, not by colour.
#pragma once

#include "ui/bridge/plan/plan_compare.h"
#include "ui/models/table_model.h"

namespace weft::ui {

class FigureModel : public TableModel<ComparedFigure> {
    Q_OBJECT
public:
    enum Column { NameColumn, AColumn, BColumn, DifferenceColumn, ColumnCount };

    explicit FigureModel(QObject* parent = nullptr);

    void setFigures(std::vector<ComparedFigure> figures);

    QVariant data(const QModelIndex& index, int role) const override;
};

class TensorCompareModel : public TableModel<ComparedTensor> {
    Q_OBJECT
public:
    enum Column { NameColumn, SpecColumn, BytesColumn, DifferenceColumn, ColumnCount };

    explicit TensorCompareModel(QObject* parent = nullptr);

    void setTensors(std::vector<ComparedTensor> tensors);
};

} // namespace weft::ui
