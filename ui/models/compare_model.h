// SPDX-License-Identifier: GPL-3.0-or-later
// Figures of two plans side by side, and the tensors that a device holds otherwise: one row each.
// Which side is better is said by a mark before its figure, not by colour.
#pragma once

#include "ui/bridge/plan/plan_compare.h"

#include <QAbstractTableModel>

namespace weft::ui {

class FigureModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { NameColumn, AColumn, BColumn, DifferenceColumn, ColumnCount };

    explicit FigureModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void setFigures(std::vector<ComparedFigure> figures);
    const std::vector<ComparedFigure>& figures() const { return figures_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<ComparedFigure> figures_;
};

class TensorDifferenceModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { NameColumn, SpecColumn, BytesColumn, DifferenceColumn, ColumnCount };
    /// Value to sort by: text or number, as the column holds.
    static constexpr int kSortRole = Qt::UserRole;

    explicit TensorDifferenceModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void setTensors(std::vector<ComparedTensor> tensors);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<ComparedTensor> tensors_;
};

} // namespace weft::ui
