// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/studio.h"

#include "core/train/compute.h"
#include "core/train/self_test/choose_devices.h"
#include "ui/bridge/convert.h"

namespace weft::ui {
namespace {

constexpr int kFollowedMs = 500; // between two looks of the lists of runs at the one on screen

} // namespace

Studio::Studio(StudioPaths paths, QObject* parent)
    : QObject(parent), paths_(std::move(paths)),
      settings_(paths_.settings.empty() ? paths_.state / "settings.ini" : paths_.settings),
      keeper_(draft_, paths_.state), reader_(run_), index_(paths_.runs_root),
      recent_(paths_.state / "recent.json"), link_(paths_.counters),
      measure_(paths_.worker, paths_.calibration, paths_.state / "measure.log"),
      machine_(paths_.worker) {
    index_.setFiles(paths_.state / "opened-folders.json",
                    paths_.cache.empty() ? paths_.cache : paths_.cache / "runs.json");
    connect(&keeper_, &DraftKeeper::failed, this, &Studio::troubled);
    connect(&recent_, &RecentPaths::failed, this, &Studio::troubled);
    connect(&link_, &RunLink::eventsArrived, this, &Studio::onEvents);
    connect(&link_, &RunLink::refused, this, &Studio::onAnswer);
    connect(&link_, &RunLink::logged, &log_, &RunLog::printed);
    connect(&link_, &RunLink::ended, this, &Studio::onEnded);
    connect(&control_, &RunControl::starting, this, [this] {
        planned_ = false;
        log_.forgetPrinted();
    });
    connect(&control_, &RunControl::started, this, [this] {
        emit trainingChanged();
        emit runShown();
    });
    connect(&control_, &RunControl::troubled, this, &Studio::troubled);
    connect(&opener_, &PathOpener::runOpened, this, &Studio::showRun);
    connect(&opener_, &PathOpener::troubled, this, &Studio::troubled);
    followed_.setSingleShot(true);
    followed_.setInterval(kFollowedMs);
    connect(&followed_, &QTimer::timeout, this, &Studio::follow);
    connect(&run_, &RunModel::changed, this, [this] {
        if (!followed_.isActive()) {
            followed_.start();
        }
    });
    // What was read of the run on screen is older than what it said since.
    connect(&index_, &RunIndex::runsChanged, this, &Studio::follow);
    connect(&run_, &RunModel::checkpointsChanged, this, &Studio::lookForKept);
    connect(&index_, &RunIndex::checkpointsRead, this, [this](const auto& folder) {
        if (folder == run_.folder()) {
            lookForKept(); // some may have been moved to the trash
        }
    });
    connect(&reader_, &RunReader::caughtUp, this, &Studio::onCaughtUp);
    // Plans that are shown rest on what was known before.
    connect(&measure_, &MachineMeasure::measured, &draft_, &Draft::changed);
    connect(&machine_, &MachineLook::found, this, &Studio::takeMachine);
}

Studio::~Studio() = default;

void Studio::takeMachine() {
    std::vector<train::FoundGpu> gpus;
    for (const GpuFacts& gpu : machine_.facts()->gpus) {
        gpus.push_back({gpu.name.toStdString(), gpu.freeBytes(), gpu.passed});
    }
    gpus_->set(std::move(gpus));
    if (draft_.isValid() &&
        (train::names_gpus(draft_.config()) || train::leaves_devices_open(draft_.config()))) {
        emit draft_.changed(); // its plan rests on what was known before
    }
}

void Studio::follow() {
    if (isTraining()) {
        index_.follow(run_.folder(), run_.step(), run_.secondsTrained());
    }
}

void Studio::bringBackDraft() {
    const QString problem = keeper_.bringBack();
    if (!problem.isEmpty()) {
        emit troubled(problem);
    }
}

QString Studio::measureMachine() {
    const QString problem = control_.startProblem();
    return problem.isEmpty() ? measure_.start() : problem;
}

void Studio::showRun(const std::filesystem::path& run_folder) {
    if (isTraining() && run_.folder() == run_folder) {
        emit runShown();
        return;
    }
    const bool was_training = isTraining();
    link_.detach();
    control_.forgetRequests();
    planned_ = false;
    reader_.open(run_folder);
    if (was_training) {
        emit trainingChanged();
    }
    emit runShown();
}

void Studio::showRunAgain(const std::filesystem::path& run_folder) {
    if (!run_folder.empty() && train::is_run_folder(run_folder)) {
        shown_again_ = run_folder;
        showRun(run_folder);
    }
}

void Studio::closeRun() {
    if (!isTraining()) {
        reader_.stop();
        run_.clear();
    }
}

void Studio::reattach() {
    const auto show = [this] {
        const bool free = run_.isEmpty() || (run_.folder() == shown_again_ && !isTraining());
        for (const train::RunSummary& run : index_.runs()) {
            if (free && train::is_live(run.folder)) {
                showRun(run.folder);
                return;
            }
        }
    };
    connect(&index_, &RunIndex::runsChanged, this, show, Qt::SingleShotConnection);
}

} // namespace weft::ui
