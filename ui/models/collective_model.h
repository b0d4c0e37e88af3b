// SPDX-License-Identifier: GPL-3.0-or-later
// What the devices of a planned training step say to each other, as rows of a table.
#pragma once

#include "ui/bridge/plan/collective_rows.h"
#include "ui/bridge/plan/plan_digest.h"
#include "ui/models/table_model.h"
#include "widgets/look/number_style.h"

#include <memory>
#include <vector>

namespace weft::ui {

class CollectiveModel : public TableModel<CollectiveRow> {
    Q_OBJECT
public:
    enum Column {
        KindColumn,
        AxesColumn,
        WhatColumn,
        BytesColumn,
        CountColumn,
        MsColumn,
        WhyColumn,
        PhaseColumn,
        OverlapsColumn,
        ColumnCount
    };
    /// The axes as a list, for the tags.
    static constexpr int kAxesRole = kSortRole + 1;
    /// A mark (widgets::MarkDelegate) at the row that runs.
    static constexpr int kRunningRole = kSortRole + 2;

    explicit CollectiveModel(QObject* parent = nullptr);

    void setDigest(const std::shared_ptr<const PlanDigest>& digest);

    /// The row that runs at the moment that is shown; -1: none.
    void setRunning(int row);
    int running() const { return running_; }

    /// The row that an op of the digest's program is in; -1: it is no exchange.
    int rowOf(int op) const;
    /// What the exchange does, why, who asked for it and what it costs, in a few sentences.
    static QString story(const CollectiveRow& row);
    /// Executions in a step, of all stages together.
    double executions() const { return found_->executions; }
    /// Of the device that sends most.
    std::int64_t sentBytes() const { return found_->sent_bytes; }
    bool timed() const { return timed_; }

    QVariant data(const QModelIndex& index, int role) const override;

private:
    std::shared_ptr<const CollectiveRows> found_; // never null
    widgets::NumberStyle ms_style_;
    bool timed_ = false;
    int running_ = -1;
};

} // namespace weft::ui
