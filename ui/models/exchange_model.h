// SPDX-License-Identifier: GPL-3.0-or-later
// What the devices of a planned training step say to each other: one row for exchanges of one kind
// over the same axes of the same thing for the same reason, layers and microbatches together;
// heaviest first.
#pragma once

#include "ui/bridge/exchange_arrows.h"
#include "ui/bridge/plan_digest.h"
#include "widgets/number_style.h"

#include <QAbstractTableModel>

#include <memory>
#include <vector>

namespace weft::ui {

/// Exchanges that are one row; figures are over all of them.
struct ExchangeRow {
    plan::Collective first;
    QString what;             // travels, with * for numbers of layers, microbatches and stages
    QString why;              // the reason, likewise; where it is not known, who asked for it
    int stage = 0;            // of the first of them
    bool many_stages = false; // devices of other stages have some too
    double count = 0;
    double predicted_ms = 0;
    std::int64_t sent_bytes = 0;       // by one device of each stage
    std::int64_t array_bytes = 0;      // of the largest
    bool mixed = false;                // others are smaller
    std::vector<int> ops;              // those in the digest's program, ascending
    std::vector<ExchangeShare> shares; // by stage, and by the stage that a message goes to
};

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

    void setDigest(std::shared_ptr<const PlanDigest> digest);

    /// The row that runs at the moment that is shown; -1: none.
    void setRunning(int row);
    int running() const { return running_; }

    const ExchangeRow& row(int index) const { return rows_[static_cast<std::size_t>(index)]; }
    /// The row that an op of the digest's program is in; -1: it is no exchange.
    int rowOf(int op) const;
    /// What the exchange does, why, who asked for it and what it costs, in a few sentences.
    QString story(int index) const;
    /// Executions in a step, of all stages together.
    double executions() const { return executions_; }
    /// Of the device that sends most.
    std::int64_t sentBytes() const { return sent_bytes_; }
    bool timed() const { return timed_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<ExchangeRow> grouped(const PlanDigest& digest);
    QVariant display(const ExchangeRow& row, int column) const;
    QVariant sortValue(const ExchangeRow& row, int column) const;

    std::vector<ExchangeRow> rows_;
    widgets::NumberStyle ms_style_;
    double executions_ = 0;
    std::int64_t sent_bytes_ = 0;
    bool timed_ = false;
    int running_ = -1;
};

} // namespace weft::ui
