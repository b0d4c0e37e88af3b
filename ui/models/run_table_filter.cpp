// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/run_table_filter.h"

#include "ui/models/run_table_model.h"

namespace weft::ui {

RunTableFilter::RunTableFilter(RunTableModel& model, QObject* parent)
    : QSortFilterProxyModel(parent), model_(model) {
    setSourceModel(&model);
    setSortRole(RunTableModel::SortRole);
    setDynamicSortFilter(true);
}

void RunTableFilter::setFilter(const train::RunFilter& filter) {
    filter_ = filter;
    invalidateFilter();
}

void RunTableFilter::setLooks(const RunLooks* looks) {
    looks_ = looks;
    invalidate();
}

const train::RunSummary& RunTableFilter::run(int row) const {
    return model_.run(mapToSource(index(row, 0)).row());
}

bool RunTableFilter::filterAcceptsRow(int row, const QModelIndex&) const {
    return filter_.matches(model_.run(row));
}

// Runs without a value stand last, whichever way the column is sorted; equal ones newest first.
bool RunTableFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const bool rising = sortOrder() == Qt::AscendingOrder;
    if (looks_ != nullptr && !looks_->groups().empty()) {
        const int a = looks_->lookOf(model_.run(left.row()).folder).group;
        const int b = looks_->lookOf(model_.run(right.row()).folder).group;
        if (a != b) {
            return rising ? a < b : a > b;
        }
    }
    const QVariant a = left.data(RunTableModel::SortRole);
    const QVariant b = right.data(RunTableModel::SortRole);
    if (a.isValid() != b.isValid()) {
        return a.isValid() == rising;
    }
    if (a.isValid() && a.typeId() == QMetaType::Double && a.toDouble() != b.toDouble()) {
        return a.toDouble() < b.toDouble();
    }
    if (a.isValid() && a.typeId() == QMetaType::QString) {
        const int order = QString::localeAwareCompare(a.toString(), b.toString());
        if (order != 0) {
            return order < 0;
        }
    }
    const double newer = model_.run(left.row()).modified - model_.run(right.row()).modified;
    return rising ? newer > 0 : newer < 0;
}

} // namespace weft::ui
