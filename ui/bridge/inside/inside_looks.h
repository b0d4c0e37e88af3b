// SPDX-License-Identifier: GPL-3.0-or-later
// What the run on screen saw inside its network, read off the GUI thread while somebody follows.
#pragma once

#include "core/train/inside/inside_file.h"
#include "ui/bridge/run/run_model.h"

#include <QObject>
#include <QTimer>

#include <memory>

namespace weft::ui {

class InsideLooks : public QObject {
    Q_OBJECT
public:
    explicit InsideLooks(RunModel& run, QObject* parent = nullptr);

    /// While it follows, what the run adds comes in within a second or two.
    void setFollowing(bool follows);
    /// Never null; empty while nothing is read, and where the run never looked.
    const std::shared_ptr<const train::InsideHistory>& history() const { return history_; }
    /// Whether the file of this run has been looked for.
    bool isKnown() const { return known_; }
    /// Why it cannot be read; empty: it can.
    const QString& problem() const { return problem_; }
    /// Steps between two looks, by the run's configuration and what was changed since; 0: none.
    std::int64_t every() const;

signals:
    void changed();

private:
    struct Read;

    void reset();
    void readOn();

    RunModel& run_;
    QTimer timer_;
    std::shared_ptr<train::InsideReader> reader_; // used by one thread at a time
    std::shared_ptr<const train::InsideHistory> history_;
    bool reading_ = false;
    bool known_ = false;
    bool follows_ = false;
    QString problem_;
};

} // namespace weft::ui
