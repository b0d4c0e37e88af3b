// SPDX-License-Identifier: GPL-3.0-or-later
// Brings a run out of an object store into the folder of runs. The network is waited for on a
// thread of its own.
#pragma once

#include "ui/bridge/newest_job.h"

#include <QObject>
#include <QString>

#include <atomic>
#include <filesystem>
#include <memory>

namespace weft::ui {

class RunFetch : public QObject {
    Q_OBJECT
public:
    explicit RunFetch(QObject* parent = nullptr);

    /// Whether a text names something in a store, "s3://bucket/runs/a".
    static bool isAddress(const QString& text);
    /// What is wrong with an address, without asking anybody; empty: nothing.
    static QString problemOf(const QString& address);

    /// A run, or one of its checkpoints, to a folder of its name below `runs`.
    void start(const QString& address, const std::filesystem::path& runs);
    /// Ends any request under way; neither signal comes.
    void stop();
    bool isRunning() const { return job_.isRunning(); }
    /// Of the arrays that are here, 0 to 1.
    double share() const { return share_->load(); }

signals:
    void fetched(const std::filesystem::path& run);
    void failed(const QString& problem);

private:
    std::shared_ptr<std::atomic<double>> share_ = std::make_shared<std::atomic<double>>(0.0);
    NewestJob job_{this};
};

} // namespace weft::ui
