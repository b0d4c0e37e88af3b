// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/studio.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/safetensors.h"
#include "core/train/ways_on.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/plan_preview.h"

#include <QFileInfo>

#include <algorithm>
#include <csignal>

namespace weft::ui {

Studio::Studio(StudioPaths paths, QObject* parent)
    : QObject(parent), paths_(std::move(paths)),
      settings_(paths_.settings.empty() ? paths_.state / "settings.ini" : paths_.settings),
      keeper_(draft_, paths_.state), reader_(run_), index_(paths_.runs_root),
      link_(paths_.counters),
      measure_(paths_.worker, paths_.calibration, paths_.state / "measure.log") {
    index_.setFiles(paths_.state / "opened-folders.json",
                    paths_.cache.empty() ? paths_.cache : paths_.cache / "runs.json");
    connect(&keeper_, &DraftKeeper::failed, this, &Studio::troubled);
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
    connect(&reader_, &RunReader::caughtUp, this, &Studio::onCaughtUp);
    // Plans that are shown rest on what was known before.
    connect(&measure_, &MachineMeasure::measured, &draft_, &Draft::changed);
}

Studio::~Studio() = default;

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
        pending_id_ = id;
        pending_ = toQString(train::command_name(kind));
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
    pending_id_.clear();
    planned_ = false;
    reader_.open(run_folder);
    if (was_training) {
        emit pendingChanged();
        emit trainingChanged();
    }
    emit runShown();
}

void Studio::reattach() {
    const auto show = [this] {
        for (const train::RunSummary& run : index_.runs()) {
            if (run_.isEmpty() && train::is_live(run.folder)) {
                showRun(run.folder);
                return;
            }
        }
    };
    connect(&index_, &RunIndex::runsChanged, this, show, Qt::SingleShotConnection);
}

namespace {

bool isCheckpoint(const std::filesystem::path& path) {
    std::error_code ignored;
    return path.filename().string().starts_with("step-") &&
           std::filesystem::is_directory(path, ignored);
}

bool isEventFile(const std::filesystem::path& path) {
    return train::is_tensorboard_file(path) || path.filename() == "events.jsonl";
}

} // namespace

void Studio::closeRun() {
    if (!isTraining()) {
        reader_.stop();
        run_.clear();
    }
}

QString Studio::openPath(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
        return tr("%1 is not there.").arg(pathText(path));
    }
    if (index_.find(path) != nullptr) {
        showRun(path); // one of those of an opened folder, which may have others below it
    } else if (train::is_run_folder(path)) {
        index_.addFolder(path);
        showRun(path);
    } else if (isCheckpoint(path)) {
        index_.addFolder(path.parent_path().parent_path());
        emit checkpointOpened(path);
    } else if (std::filesystem::is_directory(path, ignored)) {
        openRunsBelow(path);
    } else if (checkpoint::is_safetensors(path)) {
        index_.addFolder(path);
        emit weightsOpened(path);
    } else if (isEventFile(path)) {
        return openPath(path.parent_path());
    } else if (path.extension() == ".json") {
        draft_.open(path);
        emit configOpened();
    } else {
        emit dataOffered(path);
    }
    return {};
}

// Data is one file, or the folder that holds its files: a second one would take the place of the
// first.
void Studio::openDropped(const QStringList& paths) {
    QString data;
    bool more = false;
    for (const QString& text : paths) {
        const std::filesystem::path path = toPath(text);
        const bool may_be_data = !train::is_run_folder(path) && !isCheckpoint(path) &&
                                 !isEventFile(path) && path.extension() != ".json" &&
                                 !checkpoint::is_safetensors(path);
        if (may_be_data && !data.isEmpty()) {
            more = true;
            continue;
        }
        data = may_be_data ? pathText(path.filename()) : data;
        if (const QString problem = openPath(path); !problem.isEmpty()) {
            emit troubled(problem);
        }
    }
    if (more) {
        emit troubled(tr("Of the files, only %1 was opened. To train on several, drop the folder "
                         "that holds them.")
                          .arg(data));
    }
}

// A single run is shown; several are for the Runs page to choose from. Where there is none, the
// folder may hold data.
void Studio::openRunsBelow(const std::filesystem::path& folder) {
    runInBackground(
        this, [folder] { return train::find_runs(folder); },
        [this, folder](const train::FoundRuns& found) {
            if (found.folders.empty() && found.weights.empty()) {
                emit dataOffered(folder);
                return;
            }
            if (!found.all) {
                emit troubled(tr("%1 has too many folders: only the first were looked into. Open "
                                 "a folder below it.")
                                  .arg(pathText(folder)));
            }
            index_.addFolder(folder);
            if (found.folders.empty()) {
                emit weightsOpened(found.weights.front());
            } else if (found.folders.size() == 1) {
                showRun(found.folders.front());
            } else {
                emit runsOpened(folder, found.folders);
            }
        });
}

void Studio::onEvents(const std::vector<train::Event>& events) {
    for (const train::Event& event : events) {
        if (const auto* answer = std::get_if<train::CommandEvent>(&event.payload)) {
            onAnswer(*answer);
        } else {
            log(event);
        }
    }
    run_.apply(events);
    if (!planned_ && !run_.steps().step.empty()) {
        planRun();
    }
}

void Studio::onAnswer(const train::CommandEvent& answer) {
    const QString reason = toQString(answer.reason);
    emit logged(answer.accepted ? 1 : 2, "command",
                toQString(answer.command) +
                    (answer.accepted ? tr(" accepted") : tr(" refused: ") + reason),
                run_.step());
    if (toQString(answer.id) != pending_id_) {
        return;
    }
    if (!answer.accepted) {
        emit troubled(tr("%1 was refused: %2").arg(pending_, reason));
    }
    pending_.clear();
    pending_id_.clear();
    emit pendingChanged();
}

// A run that is trained goes on from here over the line to its process.
void Studio::onCaughtUp() {
    if (!run_.problem().isEmpty()) {
        emit troubled(run_.problem());
        return;
    }
    const std::int64_t last_seq = reader_.lastSeq();
    if (!link_.isActive() && train::is_live(run_.folder())) {
        reader_.stop();
        link_.attach(run_.folder());
        emit trainingChanged();
    }
    link_.stream(last_seq);
}

// Its worker compiles the same: a plan is made here again, when training has begun.
void Studio::planRun() {
    planned_ = true;
    runInBackground(
        this,
        [config = run_.config(), plan = enginePlanner(paths_.calibration).plan]()
            -> std::shared_ptr<const plan::ExecutionPlan> {
            try {
                return plan(config, nullptr, {});
            } catch (const Error&) {
                return nullptr; // the run has one; it is only not shown
            }
        },
        [this, folder = run_.folder()](std::shared_ptr<const plan::ExecutionPlan> made) {
            if (made && folder == run_.folder()) {
                run_.setPlan(std::move(made));
            }
        });
}

namespace {

/// Evidence, not proof: the system says how many it ended, and not which.
bool isForMemory(const ProcessEnd& end) {
    return (end.signal == SIGKILL || !end.known) && end.memory_kills.value_or(0) > 0;
}

/// "its process was ended by signal 9 (SIGKILL), ..."
QString endText(const ProcessEnd& end) {
    if (end.signal == 0 && end.known) {
        return Studio::tr("its process ended with exit code %1").arg(end.code);
    }
    const QString what =
        end.signal == 0 ? Studio::tr("its process is gone")
                        : Studio::tr("its process was ended by %1").arg(signalText(end.signal));
    if (isForMemory(end)) {
        return Studio::tr("%1 while the system ran out of memory and ended %n process(es)", nullptr,
                          static_cast<int>(*end.memory_kills))
            .arg(what);
    }
    if (end.signal != SIGKILL) {
        return what;
    }
    return end.memory_kills
               ? Studio::tr("%1; not by the system for want of memory, who did it is not known")
                     .arg(what)
               : Studio::tr("%1; whether for want of memory is not known").arg(what);
}

} // namespace

void Studio::onEnded(const ProcessEnd& end) {
    pending_.clear();
    pending_id_.clear();
    emit pendingChanged();
    emit trainingChanged();
    index_.refresh();
    if (train::is_final(run_.state())) {
        return;
    }
    const QString how = endText(end);
    const QString why =
        last_printed_.isEmpty() ? how : tr("%1; it last said: %2").arg(how, last_printed_);
    emit logged(3, "run", tr("%1: %2").arg(run_.name(), why), run_.step());
    if (run_.state() == train::RunState::idle) {
        run_.fail(tr("%1 did not start: %2").arg(run_.name(), why));
        emit troubled(run_.problem());
        return;
    }
    run_.interrupt(how);
    emit interrupted(why);
    if (isForMemory(end)) {
        explainMemory(how);
    }
}

// Looks for checkpoints: off the GUI thread.
void Studio::explainMemory(const QString& how) {
    runInBackground(
        this,
        [config = run_.config(), folder = run_.folder()] {
            return train::ways_with_less_memory(config, train::newest_checkpoint(folder));
        },
        [this, how, folder = run_.folder()](std::vector<train::WayOn> ways) {
            if (folder == run_.folder() && !isTraining()) {
                run_.explain(
                    {"memory",
                     {},
                     (how.left(1).toUpper() + how.mid(1) + '.').toStdString(),
                     tr("Close what else needs memory and resume, or let the run need less.")
                         .toStdString(),
                     std::move(ways)});
            }
        });
}

void Studio::log(const train::Event& event) {
    const qint64 step = run_.step();
    if (const auto* state = std::get_if<train::StateEvent>(&event.payload)) {
        QString line = toQString(train::state_name(state->state));
        if (!state->phase.empty()) {
            line += ": " + toQString(state->phase);
        }
        if (!state->reason.empty()) {
            line += " (" + toQString(state->reason) + ")";
        }
        emit logged(1, "run", line, step);
    } else if (const auto* warning = std::get_if<train::WarningEvent>(&event.payload)) {
        emit logged(2, "run", toQString(warning->message) + " " + toQString(warning->hint), step);
    } else if (const auto* error = std::get_if<train::ErrorEvent>(&event.payload)) {
        emit logged(3, "run",
                    toQString(error->where) + ": " + toQString(error->message) + " " +
                        toQString(error->hint),
                    step);
    } else if (const auto* saved = std::get_if<train::CheckpointEvent>(&event.payload)) {
        emit logged(1, "checkpoint",
                    tr("step %1 saved, %2 in %3 ms, training waited %4 ms")
                        .arg(saved->step)
                        .arg(formatFileSize(saved->bytes))
                        .arg(saved->write_ms, 0, 'f', 0)
                        .arg(saved->blocked_ms, 0, 'f', 1),
                    saved->step);
    } else if (const auto* evaluation = std::get_if<train::EvaluationEvent>(&event.payload)) {
        QString line;
        for (const auto& [name, value] : evaluation->metrics) {
            line += (line.isEmpty() ? "" : "  ") + toQString(name) + " " +
                    QString::number(value, 'g', 5);
        }
        emit logged(1, "evaluation", line, evaluation->step);
    } else if (const auto* resumed = std::get_if<train::ResumedEvent>(&event.payload)) {
        emit logged(1, "run", tr("resumed from %1").arg(toQString(resumed->from)), resumed->step);
    }
}

} // namespace weft::ui
