// SPDX-License-Identifier: GPL-3.0-or-later
// Which of a run's saved weights to try: the best, the latest (which moves along while it trains),
// or any that is on disk.
#pragma once

#include "ui/bridge/run/run_model.h"

#include <QComboBox>

namespace weft::ui {

class CheckpointChoice : public QComboBox {
    Q_OBJECT
public:
    explicit CheckpointChoice(RunModel& run, QWidget* parent = nullptr);

    /// The folder of the chosen checkpoint; empty when the run has none yet.
    std::filesystem::path checkpoint() const;

protected:
    void showEvent(QShowEvent* event) override;

signals:
    /// The choice or what it stands for is another.
    void checkpointChanged();

private:
    void readAgain();

    RunModel& run_;
    bool stale_ = true; // read when it is looked at
    bool reading_ = false;
    bool again_ = false;
    std::filesystem::path last_;
};

} // namespace weft::ui
