// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/studio.h"

#include "core/checkpoint/safetensors.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"

#include <QCoreApplication>

#include <algorithm>

namespace weft::ui {

Studio::Studio(StudioPaths paths, QObject* parent)
    : QObject(parent), paths_(std::move(paths)), reader_(run_), index_(paths_.runs_root) {
    index_.setFiles(paths_.state / "opened-folders.json",
                    paths_.cache.empty() ? paths_.cache : paths_.cache / "runs.json");
    connect(&host_, &EngineHost::eventsArrived, this, &Studio::onEvents);
    connect(&host_, &EngineHost::ended, this, &Studio::onEnded);
    connect(&reader_, &RunReader::caughtUp, this, &Studio::onCaughtUp);
}

Studio::~Studio() = default;

StartResult Studio::startDraft() {
    if (draft_.isEmpty()) {
        return {false, tr("There is no configuration to start. Choose a preset on Home.")};
    }
    if (!draft_.isValid()) {
        return {false, tr("The draft has problems: see Problems.")};
    }
    return start(draft_.config(), {}, {});
}

StartResult Studio::startFile(const std::filesystem::path& config) {
    const compile::CheckedRun checked = compile::read_run_config_file(config);
    if (!checked.ok()) {
        return {false, QString::fromStdString(to_text(checked.diagnostics.front()))};
    }
    return start(checked.config, {}, {});
}

StartResult Studio::resumeRun(const std::filesystem::path& run_folder) {
    const compile::CheckedRun checked = train::read_frozen_config(run_folder);
    if (!checked.ok()) {
        return {false, QString::fromStdString(to_text(checked.diagnostics.front()))};
    }
    const auto entries = checkpoint::list_checkpoints(run_folder / "checkpoints");
    const auto newest = std::find_if(entries.rbegin(), entries.rend(),
                                     [](const auto& entry) { return entry.problem.empty(); });
    if (newest == entries.rend()) {
        return {false, tr("%1 has no usable checkpoint to resume from.")
                           .arg(QString::fromStdString(run_folder.filename().string()))};
    }
    return start(checked.config, {newest->path, false, {}}, run_folder);
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
    return start(changed.config, {checkpoint, true, run_folder}, {});
}

StartResult Studio::start(const compile::RunConfig& config, train::StartFrom from,
                          const std::filesystem::path& existing_folder) {
    if (host_.isActive()) {
        return {false, tr("%1 is still training. Stop it first.").arg(run_.name())};
    }
    train::SessionOptions options;
    options.config = config;
    options.calibration_file = paths_.calibration;
    options.version = QCoreApplication::applicationVersion().toStdString();
    options.start = std::move(from);
    try {
        options.run_folder = existing_folder.empty()
                                 ? train::create_run_folder(paths_.runs_root, config.name)
                                 : existing_folder;
    } catch (const Error& error) {
        return {false, QString::fromStdString(error.message())};
    }
    waiting_.clear();
    if (existing_folder.empty()) {
        reader_.stop();
        run_.begin(options.run_folder, config);
    } else {
        reader_.replay(existing_folder, config);
    }
    host_.start(std::move(options));
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

void Studio::send(train::CommandKind kind, const config::Json& argument) {
    const QString id = host_.post(kind, argument);
    if (!id.isEmpty()) {
        pending_id_ = id;
        pending_ = toQString(train::command_name(kind));
        emit pendingChanged();
    }
}

bool Studio::showRun(const std::filesystem::path& run_folder) {
    if (host_.isActive()) {
        return run_.folder() == run_folder;
    }
    reader_.open(run_folder);
    emit runShown();
    return true;
}

void Studio::closeRun() {
    if (!host_.isActive()) {
        reader_.stop();
        run_.clear();
    }
}

QString Studio::openPath(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        if (train::is_run_folder(path)) {
            index_.addFolder(path);
            return showRun(path) ? QString() : tr("%1 is still training.").arg(run_.name());
        }
        if (path.filename().string().starts_with("step-")) {
            const std::filesystem::path run_folder = path.parent_path().parent_path();
            index_.addFolder(run_folder);
            emit checkpointOpened(path);
            return {};
        }
        openRunsBelow(path);
        return {};
    }
    if (checkpoint::is_safetensors(path) && std::filesystem::exists(path, ignored)) {
        index_.addFolder(path);
        emit weightsOpened(path);
        return {};
    }
    if (train::is_tensorboard_file(path) || path.filename() == "events.jsonl") {
        return openPath(path.parent_path());
    }
    if (path.extension() == ".json") {
        draft_.open(path);
        emit configOpened();
        return {};
    }
    return tr("%1: open a run configuration (.json), a folder of runs or event files, or a "
              "checkpoint folder.")
        .arg(toQString(path.filename().string()));
}

// The run that was written last is shown; the others are in the lists.
void Studio::openRunsBelow(const std::filesystem::path& folder) {
    struct Found {
        train::FoundRuns runs;
        std::filesystem::path newest;
    };
    runInBackground(
        this,
        [folder]() -> Found {
            Found found{train::find_runs(folder), {}};
            double newest = -1;
            for (const std::filesystem::path& run : found.runs.folders) {
                double written = train::written_s(run / "events.jsonl");
                for (const std::filesystem::path& file : train::tensorboard_files(run)) {
                    written = std::max(written, train::written_s(file));
                }
                if (written > newest) {
                    newest = written;
                    found.newest = run;
                }
            }
            return found;
        },
        [this, folder](const Found& found) {
            if (found.runs.folders.empty() && found.runs.weights.empty()) {
                emit troubled(tr("%1 holds no runs: no run folder, no event file of TensorBoard, no "
                                 "events.jsonl and no safetensors file lies in it or below it.")
                                  .arg(pathText(folder)));
                return;
            }
            if (!found.runs.all) {
                emit troubled(tr("%1 has too many folders: only the first were looked into. Open "
                                 "a folder below it.")
                                  .arg(pathText(folder)));
            }
            index_.addFolder(folder);
            if (found.runs.folders.empty()) {
                emit weightsOpened(found.runs.weights.front());
            } else {
                showRun(found.newest);
            }
        });
}

void Studio::onEvents(const std::vector<train::Event>& events) {
    for (const train::Event& event : events) {
        const auto* answer = std::get_if<train::CommandEvent>(&event.payload);
        if (answer != nullptr && QString::fromStdString(answer->id) == pending_id_) {
            pending_.clear();
            pending_id_.clear();
            emit pendingChanged();
        }
        log(event);
    }
    run_.setPlan(host_.plan());
    if (reader_.isReading()) {
        waiting_.insert(waiting_.end(), events.begin(), events.end());
    } else {
        run_.apply(events);
    }
}

// The session writes an event before it sends it: what came meanwhile may have been read as well.
void Studio::onCaughtUp() {
    std::erase_if(waiting_,
                  [this](const train::Event& event) { return event.seq <= reader_.lastSeq(); });
    run_.apply(std::exchange(waiting_, {}));
    if (!run_.problem().isEmpty()) {
        emit troubled(run_.problem());
    }
}

void Studio::onEnded(const train::SessionResult&) {
    pending_.clear();
    pending_id_.clear();
    emit pendingChanged();
    emit trainingChanged();
    index_.refresh();
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
    } else if (const auto* answer = std::get_if<train::CommandEvent>(&event.payload)) {
        emit logged(
            answer->accepted ? 1 : 2, "command",
            toQString(answer->command) +
                (answer->accepted ? tr(" accepted") : tr(" refused: ") + toQString(answer->reason)),
            step);
    } else if (const auto* resumed = std::get_if<train::ResumedEvent>(&event.payload)) {
        emit logged(1, "run", tr("resumed from %1").arg(toQString(resumed->from)), resumed->step);
    }
}

} // namespace weft::ui
