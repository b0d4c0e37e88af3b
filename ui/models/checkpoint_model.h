// SPDX-License-Identifier: GPL-3.0-or-later
// The checkpoints of one run as a table: those on disk, and those that retention removed (their step
// and metrics are still known from the events).
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "ui/bridge/run/run_model.h"
#include "ui/models/table_model.h"
#include "widgets/look/number_style.h"

#include <optional>
#include <vector>

namespace weft::ui {

struct CheckpointRow {
    std::int64_t step = -1;
    double epoch = 0;
    std::optional<double> train_loss;
    std::optional<double> metric;      // the run's checkpoint metric
    bool on_disk = false;
    bool newest = false;
    bool best = false;
    bool pinned = false;               // kept by hand
    bool looked_into = true;           // false: only its step is known yet
    std::string kept_for;              // "newest, best"
    std::string problem;               // on disk but not usable
    std::filesystem::path path;
    std::int64_t bytes = 0;
    double saved_time = 0;
    std::optional<train::CheckpointEvent> cost; // of saving it; none of what this run did not save
    checkpoint::Record record;         // when usable
};

/// What a save cost: "written in 812 ms, training waited 3.1 ms (1.0 ms for the save before), a
/// step took 12 ms meanwhile and 11 ms before (the longest 15 ms)".
QString saveCostText(const train::CheckpointEvent& saved);

class CheckpointModel : public TableModel<CheckpointRow> {
    Q_OBJECT
public:
    enum Column { Step, Epoch, TrainLoss, Metric, Badge, KeptFor, Size, Saved, ColumnCount };

    explicit CheckpointModel(QObject* parent = nullptr);

    /// `run` may be another run than the one on screen; it is read during the call.
    void setContent(const RunModel& run, const std::vector<checkpoint::Entry>& entries);
    void clear();
    int rowOfStep(std::int64_t step) const; // -1 when there is none
    /// What the best one is best in: "best validation accuracy".
    QString bestName() const;
    std::int64_t totalBytes() const;
    int onDisk() const;

    QVariant data(const QModelIndex& index, int role) const override;

private:
    widgets::NumberStyle styleOf(std::optional<double> CheckpointRow::*figure) const;
    QString badgeText(const CheckpointRow& row) const;
    QString badgeTip(const CheckpointRow& row) const;

    std::string metric_;
    widgets::NumberStyle loss_style_;
    widgets::NumberStyle metric_style_;
};

} // namespace weft::ui
