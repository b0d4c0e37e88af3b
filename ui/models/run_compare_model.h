// SPDX-License-Identifier: GPL-3.0-or-later
// Settings in which chosen runs differ, and how they went: a row for each, a column for each run.
#pragma once

#include "ui/bridge/run/run_facts.h"

#include <QAbstractTableModel>

namespace weft::ui {

class RunCompareModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    void setRuns(std::span<const train::RunSummary* const> runs);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<QString> names_;
    std::vector<VaryingSetting> rows_; // results first
    std::size_t results_ = 0;
};

} // namespace weft::ui
