// SPDX-License-Identifier: GPL-3.0-or-later
// The studio's link to the run on screen while a process trains it: starts that process, or finds
// it, and brings its events to the GUI thread in batches. The run outlives the link.
#pragma once

#include "ui/bridge/run/run_line.h"

#include <QObject>
#include <QStringList>
#include <QTimer>

#include <memory>
#include <vector>

namespace weft::ui {

class RunLink : public QObject {
    Q_OBJECT
public:
    /// `counters`: of the system (memoryKills).
    explicit RunLink(std::filesystem::path counters, QObject* parent = nullptr);
    /// The process goes on.
    ~RunLink() override;

    /// Starts a worker for the run in this folder. Returns why it cannot be started, or an empty
    /// string.
    QString start(const std::filesystem::path& folder, const WorkerCommand& worker);
    /// Links up with the process that trains this run, whoever started it.
    void attach(const std::filesystem::path& folder);
    /// Events above this number may come now.
    void stream(std::int64_t after_seq);
    /// Leaves the run alone.
    void detach();
    bool isActive() const { return line_ != nullptr; }
    /// A worker of this studio that trains although the link is elsewhere; empty when there is
    /// none.
    std::filesystem::path runInBackground();

    const RunControlState& control() const { return control_; }
    /// Takes control from the studio that has it.
    void takeOver();
    /// Sends a command; returns the id that its answer will carry, or an empty string without a
    /// run.
    QString post(train::CommandKind kind, const config::Json& argument = config::Json::object());
    /// News come 30 times a second while somebody watches the steps, twice else; less often, down
    /// to five times in two seconds, where showing them would take more than its share of a machine
    /// that trains; soon after a command.
    void setWatched(bool watched);
    bool isWatched() const { return watched_; }

signals:
    /// Events in order, at most one batch per tick.
    void eventsArrived(const std::vector<weft::train::Event>& events);
    /// A command that did not become part of the run's record, and why.
    void refused(const weft::train::CommandEvent& answer);
    /// What the worker printed.
    void logged(const QStringList& lines);
    void controlChanged();
    /// Nobody trains the run any more; everything that it said has arrived.
    void ended(const weft::ui::ProcessEnd& end);

private:
    struct Child {
        pid_t pid = 0;
        std::filesystem::path folder;
    };

    void link(RunLine::Target target, RunControlState::Who who);
    void drain();
    void pace();

    const std::filesystem::path counters_;
    std::unique_ptr<RunLine> line_;
    RunControlState control_;
    Child child_;                 // behind the line; pid 0: none of ours
    std::vector<Child> children_; // that the link has left
    QTimer timer_;
    bool watched_ = true;
    int hurried_ = 0;    // ticks that come as soon as they can: a command awaits its answer
    double used_ms_ = 0; // of the GUI thread's processor time, at the last tick
    int next_id_ = 1;
};

} // namespace weft::ui
