// SPDX-License-Identifier: GPL-3.0-or-later
// The ops of a planned step as a table: one row per op, or one per kind of op in a kind of layer,
// or one per kind of op.
#pragma once

#include "ui/bridge/plan/plan_digest.h"
#include "ui/models/table_model.h"
#include "widgets/look/number_style.h"

#include <QSortFilterProxyModel>

#include <memory>
#include <vector>

namespace weft::ui {

struct OpRow {
    PlanOp sum; // figures over all ops of the row
    int first = 0;
    int count = 0;
};

class OpModel : public TableModel<OpRow> {
    Q_OBJECT
public:
    enum Column {
        KindColumn,
        PathColumn,
        PhaseColumn,
        CountColumn,
        KernelColumn,
        FlopsColumn,
        BytesColumn,
        MsColumn,
        ShareColumn,
        ColumnCount
    };
    enum class Grouping { ByLayer, ByKind, Each };
    /// Share of the step, 0 to 1, for the bar.
    static constexpr int kShareRole = kSortRole + 1;

    explicit OpModel(QObject* parent = nullptr);

    void setDigest(std::shared_ptr<const PlanDigest> digest);
    void setGrouping(Grouping grouping);
    Grouping grouping() const { return grouping_; }
    /// The first op of a row, and the row that an op is in (-1: in none).
    int opOf(int row) const;
    int rowOf(int op) const;

    QVariant data(const QModelIndex& index, int role) const override;

private:
    void rebuild();

    std::shared_ptr<const PlanDigest> digest_;
    Grouping grouping_ = Grouping::ByLayer;
    std::vector<int> row_of_; // [op]
    widgets::NumberStyle ms_style_;
};

/// Keeps the rows in which every word of the filter occurs, and sorts by OpModel::kSortRole.
class OpFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit OpFilter(QObject* parent = nullptr);
    void setWords(const QString& text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList words_;
};

} // namespace weft::ui
