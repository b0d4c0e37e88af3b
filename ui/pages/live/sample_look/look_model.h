// SPDX-License-Identifier: GPL-3.0-or-later
// The layers of a model that were looked at, in the order they ran; what attends has two rows.
#pragma once

#include "ui/bridge/run/trial_host.h"
#include "ui/models/table_model.h"

namespace weft::ui {

struct LookRow {
    QString name; // of the layer
    QString what; // "4 heads", "relu"
    QString shape;
    int attention = -1; // place among those that attend; -1: a feature map
    int layer = -1;     // place among layers; -1: attention
    /// The same row of another look.
    bool isAs(const LookRow& other) const {
        return name == other.name && (attention < 0) == (other.attention < 0);
    }
};

class LookModel : public TableModel<LookRow> {
    Q_OBJECT
public:
    enum Column { NameColumn, WhatColumn, ShapeColumn };

    explicit LookModel(QObject* parent = nullptr);

    void setLook(const train::SampleLook& look);
};

/// "28 × 28 × 24"
QString extentsText(std::span<const std::int64_t> extents);

} // namespace weft::ui
