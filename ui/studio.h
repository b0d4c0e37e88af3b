// SPDX-License-Identifier: GPL-3.0-or-later
// The application behind the windows: the draft, the run that the toolbar controls, the runs on
// disk, and everything a user can ask for. Screens get a Studio& and call these; they never talk to
// the engine. The UI never assumes: a request is pending until the run answers.
#pragma once

#include "ui/bridge/draft.h"
#include "ui/bridge/engine_host.h"
#include "ui/bridge/run_index.h"
#include "ui/bridge/run_model.h"
#include "ui/bridge/run_reader.h"

#include <QObject>
#include <QString>

#include <filesystem>

namespace weft::ui {

/// Where things live; app/studio fills it from the environment.
struct StudioPaths {
    std::filesystem::path runs_root;   // ~/WeftRuns
    std::filesystem::path presets;     // folder of *.json
    std::filesystem::path state;       // XDG state: window layout, autosaved draft
    std::filesystem::path calibration{}; // what measurements of this machine taught; empty: no file
    std::filesystem::path cache{};       // what can be made again; empty: nothing is kept
};

/// What a click that starts or resumes led to.
struct StartResult {
    bool started = false;
    QString problem; // why not, for a message
};

class Studio : public QObject {
    Q_OBJECT
public:
    explicit Studio(StudioPaths paths, QObject* parent = nullptr);
    ~Studio() override;

    const StudioPaths& paths() const { return paths_; }
    Draft& draft() { return draft_; }
    RunModel& run() { return run_; }
    RunIndex& index() { return index_; }
    EngineHost& host() { return host_; }

    /// The run on screen is being trained by this process.
    bool isTraining() const { return host_.isActive(); }
    /// A request that the run has not answered yet ("pause", "stop", ...); empty when none.
    QString pendingCommand() const { return pending_; }

    // Run control --------------------------------------------------------------------------------
    /// Freezes the draft and starts it as a new run.
    StartResult startDraft();
    /// Starts a preset or any configuration file without touching the draft.
    StartResult startFile(const std::filesystem::path& config);
    /// Goes on from the newest checkpoint in the same run. `extend` adds steps.
    StartResult resumeRun(const std::filesystem::path& run_folder);
    /// A new run with a parent link, from any checkpoint, with "--set" changes.
    StartResult forkRun(const std::filesystem::path& run_folder,
                        const std::filesystem::path& checkpoint,
                        const std::vector<std::string>& overrides);
    void pause();
    void resume();
    void pauseOrResume();
    void singleStep();
    void checkpointNow();
    void stopAndSave();
    void stopNow();

    /// Shows a run's curves without training it; they come in from the background, and a run that
    /// another process trains is followed. Refused (false) while this process trains another.
    bool showRun(const std::filesystem::path& run_folder);
    /// No run is on screen any more; not while this process trains it.
    void closeRun();
    /// A path from the command line, a drop or a file dialog: configuration, run folder,
    /// checkpoint, or a folder with runs of any program in or below it, which is searched in the
    /// background. Returns what is wrong with it, or an empty string.
    QString openPath(const std::filesystem::path& path);

signals:
    void pendingChanged();
    /// Training began or ended in this process.
    void trainingChanged();
    /// Something worth a line in the console. level: 0 debug, 1 info, 2 warning, 3 error.
    void logged(int level, const QString& source, const QString& text, qint64 step);
    /// Something asked for did not work; for a short note over the window.
    void troubled(const QString& problem);
    void configOpened();
    void runShown();
    /// The Checkpoints page should select this checkpoint.
    void checkpointOpened(const std::filesystem::path& checkpoint);
    /// The Checkpoints page should show this file of weights.
    void weightsOpened(const std::filesystem::path& file);

private:
    StartResult start(const compile::RunConfig& config, train::StartFrom from,
                      const std::filesystem::path& existing_folder);
    void send(train::CommandKind kind, const config::Json& argument = config::Json::object());
    void onEvents(const std::vector<train::Event>& events);
    void onEnded(const train::SessionResult& result);
    void onCaughtUp();
    void openRunsBelow(const std::filesystem::path& folder);
    void log(const train::Event& event);

    StudioPaths paths_;
    Draft draft_;
    RunModel run_;
    RunReader reader_;
    std::vector<train::Event> waiting_; // of a resumed run, until its past is in the model
    RunIndex index_;
    EngineHost host_;
    QString pending_;
    QString pending_id_;
};

} // namespace weft::ui
