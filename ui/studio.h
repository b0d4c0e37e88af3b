// SPDX-License-Identifier: GPL-3.0-or-later
// The application behind the windows: the draft, the run that the toolbar controls, the runs on
// disk, and everything a user can ask for. Pages get a Studio& and call these; they never talk to
// the engine. The UI never assumes: a request is pending until the run answers.
#pragma once

#include "ui/bridge/draft/draft.h"
#include "ui/bridge/draft/draft_check.h"
#include "ui/bridge/draft/draft_keeper.h"
#include "ui/bridge/recent_paths.h"
#include "ui/bridge/run/machine_measure.h"
#include "ui/bridge/run/run_index.h"
#include "ui/bridge/run/run_link.h"
#include "ui/bridge/run/run_model.h"
#include "ui/bridge/run/run_reader.h"
#include "ui/settings/settings.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <filesystem>

namespace weft::ui {

/// Where things live; app/studio fills it from the environment.
struct StudioPaths {
    std::filesystem::path runs_root;   // ~/WeftRuns
    std::filesystem::path presets;     // folder of *.json
    std::filesystem::path state;       // XDG state: window layout, autosaved draft
    std::filesystem::path calibration{}; // what measurements of this machine taught; empty: no file
    std::filesystem::path worker{};      // the program `weft`
    std::filesystem::path settings{};    // file of the preferences; empty: in `state`
    std::filesystem::path cache{};       // what can be made again; empty: nothing is kept
    std::filesystem::path counters{"/proc/vmstat"}; // of the system: memoryKills
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
    Settings& settings() { return settings_; }
    Draft& draft() { return draft_; }
    RunModel& run() { return run_; }
    RunIndex& index() { return index_; }
    RecentPaths& recent() { return recent_; }
    RunLink& link() { return link_; }
    MachineMeasure& measure() { return measure_; }

    /// The run on screen is being trained, by a worker of this studio or by anybody else.
    bool isTraining() const { return link_.isActive(); }
    /// Why the run that is being trained takes no commands from here; empty when it does.
    QString controlProblem() const;
    /// The newest request that the run has not answered yet ("pause", "stop", ...); empty when
    /// none.
    QString pendingCommand() const {
        return pending_.empty() ? QString() : pending_.back().command;
    }

    /// The draft as an earlier session left it. Problems come as `troubled`.
    void bringBackDraft();

    // Run control --------------------------------------------------------------------------------
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
    void stopAndSave();
    void stopNow();
    /// The run on screen trains so many steps more: at once, or by a resume when it has ended.
    StartResult extendRun(std::int64_t steps);
    /// Takes control from another studio.
    void takeOver();
    /// Measures what predictions rest on. Returns why not, or an empty string: a run that trains
    /// would be measured too.
    QString measureMachine();

    /// Shows a run: its curves come in from the background, and the studio links up with the
    /// process that trains it, if one does. A run that was on screen goes on training.
    void showRun(const std::filesystem::path& run_folder);
    /// Shows the run that was on screen in the last session, where it is still there.
    void showRunAgain(const std::filesystem::path& run_folder);
    /// No run is on screen any more; not while it trains.
    void closeRun();
    /// Once the runs are listed: shows the newest that is being trained, unless a run was opened or
    /// the one on screen trains.
    void reattach();
    /// A path from the command line, a drop or a file dialog: configuration, run folder,
    /// checkpoint, a folder with runs of any program in or below it, which is searched in the
    /// background, or data to train on. Returns what is wrong with it, or an empty string.
    QString openPath(const std::filesystem::path& path);
    /// Everything that was dropped; of data to train on, the first file or folder. Problems come as
    /// `troubled`.
    void openDropped(const QStringList& paths);

signals:
    void pendingChanged();
    /// A request from here will not be carried out.
    void commandRefused(const QString& command, const QString& reason);
    /// Training of the run on screen began or ended.
    void trainingChanged();
    /// Who may command it: controlProblem().
    void controlChanged();
    /// The run on screen lost its process; `why` in a sentence.
    void interrupted(const QString& why);
    /// Something worth a line in the console. level: 0 debug, 1 info, 2 warning, 3 error.
    void logged(int level, const QString& source, const QString& text, qint64 step);
    /// Something asked for did not work; for a short note over the window.
    void troubled(const QString& problem);
    void configOpened();
    void runShown();
    /// Files that are no run and no configuration: to be looked at as data to train on.
    void dataOffered(const std::filesystem::path& path);
    /// The Checkpoints page should select this checkpoint.
    void checkpointOpened(const std::filesystem::path& checkpoint);
    /// The Runs page should offer these runs, which are in or below a folder that was opened.
    void runsOpened(const std::filesystem::path& folder,
                    const std::vector<std::filesystem::path>& runs);
    /// The Checkpoints page should show this file of weights.
    void weightsOpened(const std::filesystem::path& file);

private:
    /// Why no run can be started now; empty when one can.
    QString startProblem();
    /// Starts the worker and puts the run on screen; `history`: events of it are on disk.
    StartResult launch(const std::filesystem::path& folder, std::vector<std::string> arguments,
                       const compile::RunConfig& config, bool history);
    StartResult startNew(const compile::RunConfig& config);
    void send(train::CommandKind kind, const config::Json& argument = config::Json::object());
    void follow();
    void lookForKept();
    void onEvents(const std::vector<train::Event>& events);
    void onAnswer(const train::CommandEvent& answer);
    void onEnded(const ProcessEnd& end);
    void onCaughtUp();
    void openRunsBelow(const std::filesystem::path& folder);
    void planRun();
    void explainMemory(const QString& how);
    void log(const train::Event& event);

    struct Pending {
        QString id;
        QString command;
    };

    StudioPaths paths_;
    Settings settings_;
    Draft draft_;
    DraftCheck draft_check_{draft_};
    DraftKeeper keeper_;
    RunModel run_;
    RunReader reader_;
    RunIndex index_;
    RecentPaths recent_;
    RunLink link_;
    MachineMeasure measure_;
    std::vector<Pending> pending_; // requests without an answer, the newest last
    QString last_printed_; // by the worker
    std::filesystem::path shown_again_; // of the last session: nobody asked for it in this one
    bool planned_ = false; // the run on screen
    QTimer followed_;      // by the lists of runs
};

} // namespace weft::ui
