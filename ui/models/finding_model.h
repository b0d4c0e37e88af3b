// SPDX-License-Identifier: GPL-3.0-or-later
// What the plan says does not fit, divide or split: one row for arrays of layers alike and for the
// optimizer's state with its parameter; what costs most first.
#pragma once

#include "ui/bridge/plan/plan_digest.h"
#include "ui/models/table_model.h"

#include <memory>
#include <vector>

namespace weft::ui {

struct FindingRow {
    enum class Kind { Memory, Whole, Padded };
    Kind kind = Kind::Padded;
    QString where;    // "blocks.*.attention.qkv.weight"
    QString tensor;   // to look at; empty: none
    int count = 1;    // arrays
    qint64 bytes = 0; // lost on each device
    QString why;      // short
    QString story;    // a sentence or two
    std::vector<sharding::FindingFix> fixes;
};

class FindingModel : public TableModel<FindingRow> {
    Q_OBJECT
public:
    enum Column { WhatColumn, WhereColumn, BytesColumn, WhyColumn, ColumnCount };

    explicit FindingModel(QObject* parent = nullptr);

    void setDigest(std::shared_ptr<const PlanDigest> digest);
    /// Ways to make a plan fit that does not; they are looked for after the plan.
    void setMemoryFixes(const std::vector<plan::Alternative>& fixes);

    QVariant data(const QModelIndex& index, int role) const override;
};

} // namespace weft::ui
