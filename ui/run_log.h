// SPDX-License-Identifier: GPL-3.0-or-later
// The run on screen in lines for the console: what it says, what it answers, what its process
// prints, how that ended.
#pragma once

#include "ui/bridge/run/run_model.h"

#include <QObject>
#include <QStringList>

namespace weft::ui {

/// What became of steps that were to be recorded, for people.
QString recordingText(const train::RecordingEvent& event);

class RunLog : public QObject {
    Q_OBJECT
public:
    /// `run` outlives it.
    explicit RunLog(const RunModel& run, QObject* parent = nullptr) : QObject(parent), run_(run) {}

    void event(const train::Event& event);
    void answer(const train::CommandEvent& answer);
    void printed(const QStringList& lines);
    void ended(const QString& why);
    /// By the process of this run; empty: nothing yet.
    QString lastPrinted() const { return last_printed_; }
    void forgetPrinted() { last_printed_.clear(); }

signals:
    /// level: 0 debug, 1 info, 2 warning, 3 error.
    void logged(int level, const QString& source, const QString& text, qint64 step);

private:
    const RunModel& run_;
    QString last_printed_;
};

} // namespace weft::ui
