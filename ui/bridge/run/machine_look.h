// SPDX-License-Identifier: GPL-3.0-or-later
// Looks at this machine by `weft doctor` in a process of its own: the studio loads no back end of
// GPUs itself.
#pragma once

#include "ui/bridge/run/machine_facts.h"

#include <QDateTime>
#include <QObject>
#include <QProcess>
#include <QTimer>

#include <filesystem>
#include <memory>
#include <optional>

namespace weft::ui {

class MachineLook : public QObject {
    Q_OBJECT
public:
    explicit MachineLook(std::filesystem::path worker, QObject* parent = nullptr);
    /// Ends a look that is under way. One that a driver holds on to is left to end when it may.
    ~MachineLook() override;

    /// Looks again; one look at a time.
    void look();
    /// Looks unless that was done already, or is being done.
    void lookOnce();
    bool isLooking() const { return process_->state() != QProcess::NotRunning; }

    /// As of the last look; none before the first has ended.
    const std::optional<MachineFacts>& facts() const { return facts_; }
    QDateTime when() const { return when_; }
    /// Why the last look found nothing; empty: it did.
    QString problem() const { return problem_; }
    /// Why no run can use GPUs here, as far as it is known; empty: it can.
    QString gpusProblem() const;

signals:
    /// Looking began, or it ended.
    void changed();
    /// With new facts.
    void found();

private:
    void take();
    void fail(const QString& why);

    std::filesystem::path worker_;
    std::unique_ptr<QProcess> process_;
    QTimer limit_;
    std::optional<MachineFacts> facts_;
    QDateTime when_;
    QString problem_;
};

} // namespace weft::ui
