// SPDX-License-Identifier: GPL-3.0-or-later
// Measures what predictions of this machine's speed rest on, by `weft bench machine` in a process
// of its own; and says what was measured last.
#pragma once

#include "core/cost/calibration.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <filesystem>
#include <sys/types.h>

namespace weft::ui {

class MachineMeasure : public QObject {
    Q_OBJECT
public:
    /// `calibration`: the file that the worker writes; `log`: takes what it prints.
    MachineMeasure(std::filesystem::path worker, std::filesystem::path calibration,
                   std::filesystem::path log, QObject* parent = nullptr);
    /// Ends what is running; nothing of it is kept.
    ~MachineMeasure() override;

    /// Reads what is known in the background; changed() follows.
    void refresh();
    /// What is known of this machine; no ceilings: it has not been measured.
    const cost::Calibration& known() const { return known_; }

    /// Returns why it cannot be started, or an empty string.
    QString start();
    /// Asks the worker to end; what was known before stays.
    void cancel();
    bool isRunning() const { return worker_pid_ > 0; }
    bool isCancelled() const { return cancelled_; }
    /// "measuring ceilings": what the worker said last.
    QString doing() const { return doing_; }

signals:
    void changed();
    void measured();
    void failed(const QString& problem);

private:
    void look();

    std::filesystem::path worker_;
    std::filesystem::path calibration_;
    std::filesystem::path log_;
    cost::Calibration known_;
    pid_t worker_pid_ = -1;
    bool cancelled_ = false;
    QString doing_;
    QTimer timer_;
};

} // namespace weft::ui
