// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of a table that a filter leaves, in the order of a column.
#pragma once

#include "core/train/record/run_filter.h"

#include <QSortFilterProxyModel>

namespace weft::ui {

class RunLooks;
class RunTableModel;

class RunTableFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit RunTableFilter(RunTableModel& model, QObject* parent = nullptr);

    void setFilter(const train::RunFilter& filter);
    /// Runs of a group stand together, the groups in their order. Null: there are none.
    void setLooks(const RunLooks* looks);
    const train::RunSummary& run(int row) const;

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    RunTableModel& model_;
    train::RunFilter filter_;
    const RunLooks* looks_ = nullptr;
};

} // namespace weft::ui
