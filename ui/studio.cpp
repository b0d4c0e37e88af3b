// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/studio.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/train/ways_on.h"
#include "ui/bridge/convert.h"

#include <QFileInfo>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kFollowedMs = 500; // between two looks of the lists of runs at the one on screen

} // namespace

Studio::Studio(StudioPaths paths, QObject* parent)
    : QObject(parent), paths_(std::move(paths)),
      settings_(paths_.settings.empty() ? paths_.state / "settings.ini" : paths_.settings),
      keeper_(draft_, paths_.state), reader_(run_), index_(paths_.runs_root),
      recent_(paths_.state / "recent.json"), link_(paths_.counters),
      measure_(paths_.worker, paths_.calibration, paths_.state / "measure.log") {
    index_.setFiles(paths_.state / "opened-folders.json",
                    paths_.cache.empty() ? paths_.cache : paths_.cache / "runs.json");
    connect(&keeper_, &DraftKeeper::failed, this, &Studio::troubled);
    connect(&recent_, &RecentPaths::failed, this, &Studio::troubled);
    connect(&link_, &RunLink::eventsArrived, this, &Studio::onEvents);
    connect(&link_, &RunLink::refused, this, &Studio::onAnswer);
    connect(&link_, &RunLink::logged, this, [this](const QStringList& lines) {
        for (const QString& line : lines) {
            emit logged(1, "weft", line, run_.step());
        }
        last_printed_ = lines.back();
    });
    connect(&link_, &RunLink::controlChanged, this, &Studio::controlChanged);
    connect(&link_, &RunLink::ended, this, &Studio::onEnded);
    followed_.setSingleShot(true);
    followed_.setInterval(kFollowedMs);
    connect(&followed_, &QTimer::timeout, this, &Studio::follow);
    connect(&run_, &RunModel::changed, this, [this] {
        if (!followed_.isActive()) {
            followed_.start();
        }
    });
    connect(&run_, &RunModel::checkpointsChanged, this, &Studio::lookForKept);
    connect(&index_, &RunIndex::checkpointsRead, this, [this](const auto& folder) {
        if (folder == run_.folder()) {
            lookForKept(); // some may have been moved to the trash
        }
    });
    connect(&reader_, &RunReader::caughtUp, this, &Studio::onCaughtUp);
    // Plans that are shown rest on what was known before.
    connect(&measure_, &MachineMeasure::measured, &draft_, &Draft::changed);
}

Studio::~Studio() = default;

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

StartResult Studio::startDraft() {
    if (draft_.isEmpty()) {
        return {false, tr("There is no configuration to start. Choose a preset on Home.")};
    }
    if (draft_.obstacle()) {
        return {false, tr("The draft has problems: see Problems.")};
    }
    return startNew(draft_.config());
}

StartResult Studio::startFile(const std::filesystem::path& config) {
    const compile::CheckedRun checked = compile::read_run_config_file(config);
    if (!checked.ok()) {
        return {false, QString::fromStdString(to_text(checked.diagnostics.front()))};
    }
    return startNew(checked.config);
}

StartResult Studio::resumeRun(const std::filesystem::path& run_folder, std::int64_t extend) {
    const QString name = runTitle(run_folder);
    const compile::CheckedRun checked = train::read_frozen_config(run_folder);
    if (!checked.ok()) {
        return {false, QString::fromStdString(to_text(checked.diagnostics.front()))};
    }
    if (const auto lock = train::read_lock(run_folder)) {
        return {false, tr("%1 is being trained by process %2 on %3. Show it to control it.")
                           .arg(name)
                           .arg(lock->pid)
                           .arg(toQString(lock->host))};
    }
    if (!QFileInfo(pathText(run_folder)).isWritable()) {
        return {false, tr("%1 cannot go on: its folder %2 is read-only. Make it writable, or fork "
                          "the run from a checkpoint.")
                           .arg(name, pathText(run_folder))};
    }
    try {
        if (extend == 0 && train::read_run_info(run_folder).state == "finished") {
            return {false, tr("%1 is finished. Train it longer, or fork it.").arg(name)};
        }
    } catch (const Error&) {
        // Without run.json a run can go on all the same.
    }
    const auto entries = checkpoint::list_checkpoints(run_folder / "checkpoints");
    if (std::none_of(entries.begin(), entries.end(),
                     [](const auto& entry) { return entry.problem.empty(); })) {
        return {false, tr("%1 has no usable checkpoint to resume from.").arg(name)};
    }
    std::vector<std::string> arguments{"resume", run_folder.string()};
    if (extend > 0) {
        arguments.insert(arguments.end(), {"--extend", std::to_string(extend)});
    }
    // Of the run on screen the folder is its model's own, which begins again.
    const std::filesystem::path folder = run_folder;
    return launch(folder, std::move(arguments), checked.config, true);
}

StartResult Studio::forkRun(const std::filesystem::path& run_folder,
                            const std::filesystem::path& checkpoint,
                            const std::vector<std::string>& overrides) {
    const compile::CheckedRun parent = train::read_frozen_config(run_folder);
    const compile::CheckedRun changed = train::read_frozen_config(run_folder, overrides);
    if (!parent.ok() || !changed.ok()) {
        const auto& problems = parent.ok() ? changed.diagnostics : parent.diagnostics;
        return {false, QString::fromStdString(to_text(problems.front()))};
    }
    for (const compile::FieldChange& change : compile::compare(parent.config, changed.config)) {
        if (change.effect == compile::ChangeEffect::blocked) {
            return {false, tr("%1 cannot change in a fork: the weights would not fit.")
                               .arg(QString::fromStdString(change.path))};
        }
    }
    if (const QString problem = startProblem(); !problem.isEmpty()) {
        return {false, problem};
    }
    std::filesystem::path folder;
    try {
        folder = train::create_run_folder(paths_.runs_root, changed.config.name);
    } catch (const Error& error) {
        return {false, QString::fromStdString(error.message())};
    }
    const std::filesystem::path& from = checkpoint.empty() ? run_folder : checkpoint;
    std::vector<std::string> arguments{"resume", from.string(), "--fork", folder.string()};
    for (const std::string& override_text : overrides) {
        arguments.insert(arguments.end(), {"--set", override_text});
    }
    return launch(folder, std::move(arguments), changed.config, false);
}

StartResult Studio::takeWayOn(const train::WayOn& way) {
    const std::string name = checkpoint::folder_name(way.from_step);
    const std::filesystem::path run = run_.folder();
    std::error_code problem;
    if (std::filesystem::is_directory(run / "checkpoints" / name, problem)) {
        return forkRun(run, run / "checkpoints" / name, way.overrides);
    }
    // A fork that failed before its first save has its checkpoint in the run it came from, and its
    // changes have to be made again.
    std::filesystem::path parent = run_.origin() ? run_.origin()->run : std::filesystem::path();
    if (parent.empty() && std::filesystem::exists(run / "run.json", problem)) {
        parent = train::read_run_info(run).parent;
    }
    if (!parent.empty() && std::filesystem::is_directory(parent / "checkpoints" / name, problem)) {
        const compile::CheckedRun before = train::read_frozen_config(parent);
        std::vector<std::string> overrides;
        if (before.ok()) {
            for (const compile::FieldChange& change :
                 compile::compare(before.config, run_.config())) {
                overrides.push_back(change.path + "=" + change.after.dump());
            }
        }
        overrides.insert(overrides.end(), way.overrides.begin(), way.overrides.end());
        return forkRun(parent, parent / "checkpoints" / name, overrides);
    }
    if (way.from_step > 0) {
        return {false, tr("The checkpoint of step %1 is gone.").arg(formatCount(way.from_step))};
    }
    return forkRun(run, {}, way.overrides);
}

QString Studio::startProblem() {
    if (link_.isActive()) {
        return tr("%1 is still training. Stop it first.").arg(run_.name());
    }
    const std::filesystem::path other = link_.runInBackground();
    return other.empty()
               ? QString()
               : tr("%1 is still training in the background. Stop it first.").arg(runTitle(other));
}

StartResult Studio::startNew(const compile::RunConfig& config) {
    if (const QString problem = startProblem(); !problem.isEmpty()) {
        return {false, problem};
    }
    try {
        const std::filesystem::path folder =
            train::create_run_folder(paths_.runs_root, config.name);
        const std::filesystem::path frozen = folder / "config.json";
        write_file_atomically(frozen, config.document.dump(2) + "\n");
        return launch(folder,
                      {"train", frozen.string(), "--base-dir",
                       std::filesystem::absolute(config.base_dir).string(), "--run-dir",
                       folder.string()},
                      config, false);
    } catch (const Error& error) {
        return {false, QString::fromStdString(error.message())};
    }
}

StartResult Studio::launch(const std::filesystem::path& folder, std::vector<std::string> arguments,
                           const compile::RunConfig& config, bool history) {
    QString problem = startProblem();
    if (problem.isEmpty()) {
        arguments.emplace_back("--quiet");
        problem = link_.start(folder,
                              {paths_.worker, std::move(arguments), folder / "logs" / "weft.log"});
    }
    if (!problem.isEmpty()) {
        if (!history) {
            std::error_code ignored;
            std::filesystem::remove_all(folder, ignored); // made a moment ago for this run
        }
        return {false, problem};
    }
    recent_.add(folder);
    planned_ = false;
    last_printed_.clear();
    if (history) {
        reader_.replay(folder, config);
    } else {
        reader_.stop();
        run_.begin(folder, config);
        link_.stream(0);
    }
    emit trainingChanged();
    emit runShown();
    return {true, {}};
}

void Studio::pause() {
    send(train::CommandKind::pause);
}

void Studio::resume() {
    send(train::CommandKind::resume);
}

void Studio::pauseOrResume() {
    run_.state() == train::RunState::paused ? resume() : pause();
}

void Studio::singleStep() {
    send(train::CommandKind::step);
}

void Studio::checkpointNow() {
    send(train::CommandKind::checkpoint);
}

void Studio::stopAndSave() {
    send(train::CommandKind::stop);
}

void Studio::stopNow() {
    send(train::CommandKind::stop_now);
}

StartResult Studio::extendRun(std::int64_t steps) {
    if (!isTraining()) {
        return resumeRun(run_.folder(), steps);
    }
    send(train::CommandKind::extend, {{"steps", steps}});
    return {true, {}};
}

void Studio::takeOver() {
    link_.takeOver();
}

QString Studio::measureMachine() {
    const QString problem = startProblem();
    return problem.isEmpty() ? measure_.start() : problem;
}

QString Studio::controlProblem() const {
    using Who = RunControlState::Who;
    if (!isTraining() || link_.control().who == Who::Mine) {
        return {};
    }
    const QString why = toQString(link_.control().why);
    switch (link_.control().who) {
    case Who::Other: return tr("read-only: %1").arg(why);
    case Who::Unreachable: return tr("read-only: its process cannot be reached (%1)").arg(why);
    default: return tr("connecting to its process");
    }
}

void Studio::send(train::CommandKind kind, const config::Json& argument) {
    const QString id = link_.post(kind, argument);
    if (!id.isEmpty()) {
        pending_.push_back({id, toQString(train::command_name(kind))});
        emit pendingChanged();
    }
}

void Studio::showRun(const std::filesystem::path& run_folder) {
    if (isTraining() && run_.folder() == run_folder) {
        emit runShown();
        return;
    }
    const bool was_training = isTraining();
    link_.detach();
    pending_.clear();
    planned_ = false;
    reader_.open(run_folder);
    if (was_training) {
        emit pendingChanged();
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
