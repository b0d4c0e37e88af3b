// SPDX-License-Identifier: GPL-3.0-or-later
// The checkpoints of one run as a table: those on disk, and those that retention removed (their step
// and metrics are still known from the events).
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "ui/bridge/run/run_model.h"
#include "widgets/look/number_style.h"

#include <QAbstractTableModel>

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
    checkpoint::Record record;         // when usable
};

class CheckpointModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Step, Epoch, TrainLoss, Metric, Badge, KeptFor, Size, Saved, ColumnCount };
    /// What a column is sorted by: numbers as such.
    static constexpr int SortRole = Qt::UserRole;

    explicit CheckpointModel(QObject* parent = nullptr);

    /// `run` may be another run than the one on screen; it is read during the call.
    void setContent(const RunModel& run, const std::vector<checkpoint::Entry>& entries);
    void clear();
    const CheckpointRow& row(int index) const { return rows_[static_cast<std::size_t>(index)]; }
    int rowOfStep(std::int64_t step) const; // -1 when there is none
    /// What the best one is best in: "best validation accuracy".
    QString bestName() const;
    std::int64_t totalBytes() const;
    int onDisk() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString displayText(const CheckpointRow& row, int column) const;
    QVariant sortValue(const CheckpointRow& row, int column) const;
    widgets::NumberStyle styleOf(std::optional<double> CheckpointRow::*figure) const;
    QString toolTip(const CheckpointRow& row, int column) const;

    std::vector<CheckpointRow> rows_; // newest first
    std::string metric_;
    widgets::NumberStyle loss_style_;
    widgets::NumberStyle metric_style_;
};

} // namespace weft::ui
