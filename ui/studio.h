// SPDX-License-Identifier: GPL-3.0-or-later
// The application behind the windows: the draft, the run that the toolbar controls, the runs on
// disk, and everything a user can ask for, here or of a part. Pages get a Studio& and call these;
// they never talk to the engine.
#pragma once

#include "ui/bridge/draft/draft.h"
#include "ui/bridge/draft/draft_check.h"
#include "ui/bridge/draft/draft_keeper.h"
#include "ui/bridge/plan/planner.h"
#include "ui/bridge/recent_paths.h"
#include "ui/bridge/run/machine_look.h"
#include "ui/bridge/run/machine_measure.h"
#include "ui/bridge/run/run_index.h"
#include "ui/bridge/run/run_link.h"
#include "ui/bridge/run/run_model.h"
#include "ui/bridge/run/run_reader.h"
#include "ui/path_opener.h"
#include "ui/run_control.h"
#include "ui/run_log.h"
#include "ui/settings/settings.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <filesystem>
#include <memory>

namespace weft::ui {

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
    MachineLook& machine() { return machine_; }
    RunControl& control() { return control_; }
    PathOpener& opener() { return opener_; }
    RunLog& log() { return log_; }

    /// The engine's, with all that is known of this machine.
    Planner planner() const { return enginePlanner(paths_.calibration, gpus_); }
    /// The run on screen is being trained, by a worker of this studio or by anybody else.
    bool isTraining() const { return link_.isActive(); }

    /// The draft as an earlier session left it. Problems come as `troubled`.
    void bringBackDraft();

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

signals:
    /// Training of the run on screen began or ended.
    void trainingChanged();
    /// The run on screen lost its process; `why` in a sentence.
    void interrupted(const QString& why);
    /// Something asked for did not work; for a short note over the window.
    void troubled(const QString& problem);
    void runShown();

private:
    void follow();
    void takeMachine();
    void lookForKept();
    void onEvents(const std::vector<train::Event>& events);
    void onAnswer(const train::CommandEvent& answer);
    void onEnded(const ProcessEnd& end);
    void onCaughtUp();
    void planRun();
    void explainMemory(const QString& how);

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
    MachineLook machine_;
    std::shared_ptr<FoundGpus> gpus_ = std::make_shared<FoundGpus>();
    RunControl control_{paths_, draft_, run_, reader_, link_, recent_};
    PathOpener opener_{paths_, draft_, index_, recent_};
    RunLog log_{run_};
    std::filesystem::path shown_again_; // of the last session: nobody asked for it in this one
    bool planned_ = false; // the run on screen
    QTimer followed_;      // by the lists of runs
};

} // namespace weft::ui
