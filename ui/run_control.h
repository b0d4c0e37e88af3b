// SPDX-License-Identifier: GPL-3.0-or-later
// Starts, resumes and forks runs, and asks the one on screen to pause, save or stop. Nothing is
// assumed: a request is pending until the run answers.
#pragma once

#include "ui/bridge/draft/draft.h"
#include "ui/bridge/recent_paths.h"
#include "ui/bridge/run/run_link.h"
#include "ui/bridge/run/run_model.h"
#include "ui/bridge/run/run_reader.h"
#include "ui/studio_paths.h"

#include <QObject>
#include <QString>

#include <filesystem>
#include <vector>

namespace weft::ui {

/// What a click that starts or resumes led to.
struct StartResult {
    bool started = false;
    QString problem; // why not, for a message
};

class RunControl : public QObject {
    Q_OBJECT
public:
    /// What it works with outlives it; a run that it starts is on screen in `run`.
    RunControl(const StudioPaths& paths, Draft& draft, RunModel& run, RunReader& reader,
               RunLink& link, RecentPaths& recent, QObject* parent = nullptr);

    /// Freezes the draft and starts it as a new run.
    StartResult startDraft();
    /// Starts a preset or any configuration file without touching the draft.
    StartResult startFile(const std::filesystem::path& config);
    /// Goes on from the newest checkpoint in the same run. `extend` adds steps.
    StartResult resumeRun(const std::filesystem::path& run_folder, std::int64_t extend = 0);
    /// A new run with a parent link, from any checkpoint (empty: from the start), with "--set"
    /// changes.
    StartResult forkRun(const std::filesystem::path& run_folder,
                        const std::filesystem::path& checkpoint,
                        const std::vector<std::string>& overrides);
    /// A fork of the run on screen with what a failure offers, from the checkpoint it names; from
    /// the start where the run had none.
    StartResult takeWayOn(const train::WayOn& way);
    void pause();
    void resume();
    void pauseOrResume();
    void singleStep();
    void checkpointNow();
    void evaluateNow();
    /// What may change while a run goes on (core/train/control/live_settings.h).
    void changeSetting(const std::string& path, const config::Json& value);
    /// Its next steps are recorded for the profiler.
    void recordSteps(std::int64_t steps);
    void stopAndSave();
    void stopNow();
    /// The run on screen trains so many steps more: at once, or by a resume when it has ended.
    StartResult extendRun(std::int64_t steps);
    /// Takes control from another studio.
    void takeOver();

    /// Why no run can be started now; empty when one can.
    QString startProblem() const;
    /// Why the run that is being trained takes no commands from here; empty when it does.
    QString controlProblem() const;
    /// The newest request that the run has not answered yet ("pause", "stop", ...); empty when
    /// none.
    QString pendingCommand() const {
        return pending_.empty() ? QString() : pending_.back().command;
    }
    /// The run says what becomes of a request.
    void takeAnswer(const train::CommandEvent& answer);
    /// Nobody is there any more who would answer.
    void forgetRequests();

signals:
    void pendingChanged();
    /// A request from here will not be carried out.
    void commandRefused(const QString& command, const QString& reason);
    /// Who may command the run: controlProblem().
    void controlChanged();
    /// A run was begun: its model comes next.
    void starting();
    /// It is on screen.
    void started();
    /// Something asked for did not work; for a short note over the window.
    void troubled(const QString& problem);

private:
    /// Starts the worker and puts the run on screen; `history`: events of it are on disk.
    StartResult launch(const std::filesystem::path& folder, std::vector<std::string> arguments,
                       const compile::RunConfig& config, bool history);
    StartResult startNew(const compile::RunConfig& config);
    void send(train::CommandKind kind, const config::Json& argument = config::Json::object());

    struct Pending {
        QString id;
        QString command;
    };

    const StudioPaths& paths_;
    Draft& draft_;
    RunModel& run_;
    RunReader& reader_;
    RunLink& link_;
    RecentPaths& recent_;
    std::vector<Pending> pending_; // requests without an answer, the newest last
};

} // namespace weft::ui
