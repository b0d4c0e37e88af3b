// SPDX-License-Identifier: GPL-3.0-or-later
// Two checkpoints beside each other: settings, counters and every array in which they differ. The
// arrays are read in the background.
#pragma once

#include "ui/bridge/long_job.h"
#include "ui/models/checkpoint_model.h"

#include <QDialog>
#include <QTimer>

class QTableView;

namespace weft::widgets {
class ProgressLine;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class ArrayCompareModel;

class CompareDialog : public QDialog {
    Q_OBJECT
public:
    CompareDialog(const CheckpointRow& a, const CheckpointRow& b, QWidget* parent = nullptr);
    ~CompareDialog() override;

    /// Whether the arrays have been compared.
    bool isDone() const { return done_; }

private:
    void take(const checkpoint::Difference& difference, const QString& problem);

    bool done_ = false;
    LongJob job_;
    QTimer watch_;
    widgets::ProgressLine* progress_;
    widgets::TextLabel* settings_;
    widgets::TextLabel* counters_;
    widgets::TextLabel* verdict_;
    ArrayCompareModel* model_;
    QTableView* table_;
};

} // namespace weft::ui
