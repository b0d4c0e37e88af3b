// SPDX-License-Identifier: GPL-3.0-or-later
// The meshes that the advisor found beside the one that a run has: what a device holds, how long a
// step takes and how much of it goes to collectives and bubbles.
#pragma once

#include "ui/bridge/plan/mesh_search.h"
#include "ui/models/table_model.h"
#include "widgets/look/number_style.h"

namespace weft::ui {

struct AdviceRow {
    QString mesh;     // "data=8 × model=8"
    QString settings; // "1f1b, ZeRO 1, micro batch 2"
    qint64 bytes = 0; // as plan::ExecutionPlan::memory_bytes
    std::optional<double> step_ms;
    double communication_ms = 0;
    std::optional<double> bubble; // of even stages, 0 to 1
    bool best = false;            // no other row is better in memory and in time
    int way = -1;                 // of the search; -1: what the run has
};

class AdviceModel : public TableModel<AdviceRow> {
    Q_OBJECT
public:
    enum Column {
        MarkColumn,
        MeshColumn,
        SettingsColumn,
        MemoryColumn,
        BubbleColumn,
        CollectiveColumn,
        StepColumn,
        DifferenceColumn,
        ColumnCount
    };

    explicit AdviceModel(QObject* parent = nullptr);

    /// The run's own row first; `plan` null: it has none.
    void setWays(const std::vector<MeshWay>& ways, const plan::ExecutionPlan* plan);
    /// The row in a sentence.
    QString sentence(const AdviceRow& row) const;

private:
    /// Of a step, to that of the run's own row; none without both.
    std::optional<double> difference(const AdviceRow& row) const;

    widgets::NumberStyle step_style_;
};

} // namespace weft::ui
