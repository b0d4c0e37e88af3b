// SPDX-License-Identifier: GPL-3.0-or-later
// What the devices of a planned training step say to each other, as rows of a table.
#pragma once

#include "ui/bridge/plan/exchange_rows.h"
#include "ui/bridge/plan/plan_digest.h"
#include "widgets/look/number_style.h"

#include <QAbstractTableModel>

#include <memory>
#include <vector>

namespace weft::ui {

class ExchangeModel : public QAbstractTableModel {
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
    /// Value to sort by: text or number, as the column holds.
    static constexpr int kSortRole = Qt::UserRole;
    /// The axes as a list, for the tags.
    static constexpr int kAxesRole = Qt::UserRole + 1;
    /// A mark (widgets::MarkDelegate) at the row that runs.
    static constexpr int kRunningRole = Qt::UserRole + 2;

    explicit ExchangeModel(QObject* parent = nullptr);

    void setDigest(const std::shared_ptr<const PlanDigest>& digest);

    /// The row that runs at the moment that is shown; -1: none.
    void setRunning(int row);
    int running() const { return running_; }

    const ExchangeRow& row(int index) const { return rows()[static_cast<std::size_t>(index)]; }
    /// The row that an op of the digest's program is in; -1: it is no exchange.
    int rowOf(int op) const;
    /// What the exchange does, why, who asked for it and what it costs, in a few sentences.
    QString story(int index) const;
    /// Executions in a step, of all stages together.
    double executions() const { return found_->executions; }
    /// Of the device that sends most.
    std::int64_t sentBytes() const { return found_->sent_bytes; }
    bool timed() const { return timed_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    const std::vector<ExchangeRow>& rows() const { return found_->rows; }
    QVariant display(const ExchangeRow& row, int column) const;
    QVariant sortValue(const ExchangeRow& row, int column) const;

    std::shared_ptr<const ExchangeRows> found_; // never null
    widgets::NumberStyle ms_style_;
    bool timed_ = false;
    int running_ = -1;
};

} // namespace weft::ui
